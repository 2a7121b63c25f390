// Messages of an update that makes matrices orthogonal (kernels/muon.h).
#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>

#include "stepwright/runtime/kernels/muon.h"
#include "stepwright/runtime/messages/groups.h"
#include "stepwright/runtime/messages/messages.h"
#include "stepwright/runtime/messages/shard_rows.h"

namespace stepwright::runtime {
namespace {

/// Elements that are sent between the owner of a matrix and a rank that holds a part of it.
struct Crossing {
  std::size_t matrix = 0;  ///< Index of the matrix in the step.
  std::int64_t first = 0;  ///< First element in the parameter's local part.
  std::int64_t count = 0;
};

/// Returns the parts, held by one rank, of the matrices that another rank owns.
std::vector<Crossing> crossings(const MuonProgress& step, std::int64_t owner, std::int64_t holder) {
  std::vector<Crossing> list;
  for (std::size_t i = 0; i < step.matrices.size(); ++i) {
    const MuonMatrix& matrix = step.matrices[i];
    if (matrix.owner != owner) continue;
    const StoredParameter& p = *matrix.parameter;
    const ShardBlockRun blocks = p.layout->held_by(holder, p.layout->sharding.optimizer);
    const std::int64_t begin = std::max(matrix.first, blocks.first * p.block());
    const std::int64_t end =
        std::min(matrix.first + matrix.elements(), (blocks.first + blocks.count) * p.block());
    if (begin < end) list.push_back({i, begin, end - begin});
  }
  return list;
}

/// The direction in which parts are sent.
enum class Way : std::uint8_t { kToOwner, kBack };

/// Returns the parts that one rank sends to another.
std::vector<Crossing> sent_parts(const MuonProgress& step, Way way, std::int64_t from,
                                 std::int64_t to) {
  return way == Way::kToOwner ? crossings(step, to, from) : crossings(step, from, to);
}

std::int64_t elements_of(const std::vector<Crossing>& parts) {
  std::int64_t sum = 0;
  for (const Crossing& part : parts) sum += part.count;
  return sum;
}

using PartOf = std::function<at::Tensor(const Crossing&)>;

/// Sends parts, copied out of the tensors of `from`, and copies received ones into those of `into`.
/// A rank's parts for itself fill its buffer up to the operator's payload.
void exchange(KernelCall& call, const MuonProgress& step, Way way, const PartOf& from,
              const PartOf& into) {
  Communicator& group = call.rank.groups.communicator_of_operator(call.op);
  const std::int64_t own = group.index();
  const at::TensorOptions options = step.momentum.begin()->second.options();
  Communicator::AllToAllRowCounts splits;
  std::vector<at::Tensor> sent;
  for (std::int64_t r = 0; r < group.size(); ++r) {
    splits.sent.push_back(elements_of(sent_parts(step, way, own, r)));
    splits.received.push_back(elements_of(sent_parts(step, way, r, own)));
  }
  const std::int64_t fill = call.op.payload_elements -
                            std::reduce(splits.sent.begin(), splits.sent.end(), std::int64_t{0});
  for (std::int64_t r = 0; r < group.size(); ++r) {
    for (const Crossing& part : sent_parts(step, way, own, r)) sent.push_back(from(part));
    if (r == own) sent.push_back(at::zeros({fill}, options));
  }
  const auto self = static_cast<std::size_t>(own);
  splits.sent[self] += fill;
  splits.received[self] += fill;
  at::Tensor received = at::empty({call.op.payload_elements}, options);
  group.all_to_all(call.op, received, at::cat(sent), splits);
  std::int64_t begin = 0;
  for (std::int64_t r = 0; r < group.size(); ++r) {
    std::int64_t next = begin;
    for (const Crossing& part : sent_parts(step, way, r, own)) {
      into(part).copy_(received.narrow(0, next, part.count));
      next += part.count;
    }
    begin += splits.received[static_cast<std::size_t>(r)];
  }
}

/// Return a part of a parameter's held elements (`of_held`), and of a whole matrix.
at::Tensor of_held(const MuonProgress& step, const ByParameter& held, const Crossing& part) {
  const StoredParameter& p = *step.matrices[part.matrix].parameter;
  const std::int64_t first = p.first_held_element(p.layout->sharding.optimizer);
  return held.at(&p).narrow(0, part.first - first, part.count);
}
at::Tensor of_matrix(const MuonProgress& step, const std::vector<at::Tensor>& matrices,
                     const Crossing& part) {
  const std::int64_t first = step.matrices[part.matrix].first;
  return matrices[part.matrix].view({-1}).narrow(0, part.first - first, part.count);
}

void bring_to_owners(KernelCall& call) {
  MuonProgress& step = update_muon_momentum(call.rank, plan::is_expert_communicator(call.op.group));
  const std::int64_t own = call.rank.groups.communicator_of_operator(call.op).index();
  step.made = MuonProgress::Made::kMatrices;
  for (std::size_t i = 0; i < step.matrices.size(); ++i) {
    const MuonMatrix& matrix = step.matrices[i];
    if (matrix.owner != own) continue;
    step.values[i] =
        at::empty({matrix.rows, matrix.columns()}, step.momentum.begin()->second.options());
  }
  exchange(
      call, step, Way::kToOwner,
      [&](const auto& part) { return of_held(step, step.momentum, part); },
      [&](const auto& part) { return of_matrix(step, step.values, part); });
}

void bring_back(KernelCall& call) {
  MuonProgress& step =
      orthogonalize_muon_updates(call.rank, plan::is_expert_communicator(call.op.group));
  for (at::Tensor& update : step.updates) {
    if (update.defined()) update = update.contiguous();
  }
  for (const auto& [parameter, held] : step.momentum) {
    step.returned[parameter] = at::empty_like(held);
  }
  exchange(
      call, step, Way::kBack, [&](const auto& part) { return of_matrix(step, step.updates, part); },
      [&](const auto& part) { return of_held(step, step.returned, part); });
}

/// Returns the matrices that this rank makes orthogonal together with its tensor ranks.
std::vector<std::size_t> cut_matrices(const MuonProgress& step) {
  std::vector<std::size_t> list;
  for (std::size_t i = 0; i < step.matrices.size(); ++i) {
    const bool cut =
        step.matrices[i].parameter->slice.cut != model::TensorParallelSplit::kReplicated;
    if (cut && step.values[i].defined()) list.push_back(i);
  }
  return list;
}

bool rows_are_cut(const MuonMatrix& matrix) {
  return matrix.parameter->slice.cut == model::TensorParallelSplit::kColumn;
}

/// Gathers matrices over tensor ranks; each makes the whole matrices orthogonal, and keeps its
/// part.
void gather_whole(KernelCall& call) {
  MuonProgress& step = gather_muon_momentum(call.rank, plan::is_expert_communicator(call.op.group));
  const Communicator& group = call.rank.groups.communicator_of_operator(call.op);
  std::vector<at::Tensor> own;
  const std::vector<std::size_t> cut = cut_matrices(step);
  for (const std::size_t i : cut) own.push_back(step.values[i].reshape({-1}));
  const at::Tensor rows = all_gather_columns(call, at::cat(own));
  std::int64_t column = 0;
  for (const std::size_t i : cut) {
    const MuonMatrix& matrix = step.matrices[i];
    const int dimension = rows_are_cut(matrix) ? 0 : 1;
    std::vector<at::Tensor> parts;
    for (std::int64_t r = 0; r < group.size(); ++r) {
      parts.push_back(rows.select(0, r)
                          .narrow(0, column, matrix.elements())
                          .view({matrix.rows, matrix.columns()}));
    }
    column += matrix.elements();
    const std::int64_t width = parts.front().size(dimension);
    step.updates[i] = nearest_orthogonal_matrix(at::cat(parts, dimension))
                          .narrow(dimension, group.index() * width, width);
  }
}

/// Sums the products of tensor ranks, in each Newton-Schulz iteration. The first iteration also
/// sums the norms by which matrices are divided.
void share_products(KernelCall& call) {
  MuonProgress& step = gather_muon_momentum(call.rank, plan::is_expert_communicator(call.op.group));
  const std::vector<std::size_t> cut = cut_matrices(step);
  const bool first = !cut.empty() && !step.updates[cut.front()].defined();
  std::vector<at::Tensor> products;
  for (const std::size_t i : cut) {
    if (first) step.updates[i] = step.values[i];
    const bool rows = rows_are_cut(step.matrices[i]);
    products.push_back(newton_schulz_product(step.updates[i], rows).reshape({-1}));
  }
  all_reduce_joined_tensors(call, products);
  for (std::size_t k = 0; k < cut.size(); ++k) {
    const std::size_t i = cut[k];
    const bool rows = rows_are_cut(step.matrices[i]);
    const std::int64_t kept = step.updates[i].size(rows ? 1 : 0);
    at::Tensor product = products[k].view({kept, kept});
    if (first) {
      const at::Tensor norm = product.trace().sqrt() + kMuonNormEpsilon;
      step.updates[i] = step.updates[i] / norm;
      product = product / (norm * norm);
    }
    step.updates[i] = newton_schulz_step(step.updates[i], product, rows);
  }
}

}  // namespace

void run_muon_message(KernelCall& call) {
  if (call.op.purpose == step::OperatorPurpose::kReturnMatrices) return bring_back(call);
  if (call.op.purpose == step::OperatorPurpose::kShareProducts) return share_products(call);
  return call.op.kind == step::OperatorKind::kAllToAll ? bring_to_owners(call) : gather_whole(call);
}

}  // namespace stepwright::runtime
