// Messages about model states. A message's buffer is a matrix, one row per rank of the group, in
// which the blocks of its parameters stand side by side; the pieces of a message are runs of
// columns, so buckets of any size cut the same shards.
#include <fmt/format.h>

#include <algorithm>

#include "stepwright/core/error.h"
#include "stepwright/runtime/messages/groups.h"
#include "stepwright/runtime/messages/messages.h"

namespace stepwright {
namespace {

using Parameters = std::vector<StoredParameter*>;

bool of_all_ranks(GroupKind group) {
  return group == GroupKind::kDataContext || group == GroupKind::kExpertData;
}

std::vector<std::int32_t> units(const Call& call) {
  return call.item.units.empty() ? call.rank.store.order() : call.item.units;
}

/// Blocks of a flat tensor as rows of a group: shard-major as stored, rank-major for collectives
/// over all ranks.
at::Tensor rows_for(const Call& call, const StateLayout& layout, const at::Tensor& flat,
                    std::int64_t ranks) {
  if (!of_all_ranks(call.op.group)) return flat.view({ranks, -1});
  return flat.view({layout.inner, layout.outer, -1}).transpose(0, 1).reshape({ranks, -1});
}

/// The reverse: rows as they came from a collective into a flat tensor.
void store_rows(const Call& call, const StateLayout& layout, const at::Tensor& rows,
                const at::Tensor& flat) {
  if (!of_all_ranks(call.op.group)) {
    flat.copy_(rows.reshape({-1}));
    return;
  }
  const at::Tensor blocks = rows.reshape({layout.outer, layout.inner, -1}).transpose(0, 1);
  flat.view(blocks.sizes()).copy_(blocks);
}

/// Columns [begin, begin + width) of a matrix, zeros beyond its end.
at::Tensor piece_of(const at::Tensor& matrix, std::int64_t begin, std::int64_t width) {
  const std::int64_t end = std::min(begin + width, matrix.size(1));
  if (end - begin == width) return matrix.narrow(1, begin, width).contiguous();
  at::Tensor piece = at::zeros({matrix.size(0), width}, matrix.options());
  if (end > begin) piece.narrow(1, 0, end - begin).copy_(matrix.narrow(1, begin, end - begin));
  return piece;
}

/// Checks that the pieces of a message cover all that there is to send.
void check_cover(const Call& call, std::int64_t width, std::int64_t columns) {
  const std::int64_t covered = width * call.op.repeats;
  if (covered >= columns && covered - columns < call.op.repeats) return;
  throw Error(ErrorKind::kRuntime, fmt::format("{}: {} columns at hand, the program sends {}",
                                               call.op.name, columns, covered));
}

/// [ranks, columns] summed over the ranks, of which row `index` comes back.
at::Tensor reduce_scatter_columns(Call& call, const at::Tensor& matrix) {
  Communicator& group = call.rank.groups.of(call.op);
  const std::int64_t width = call.op.payload_elements / group.size();
  check_cover(call, width, matrix.size(1));
  at::Tensor own = at::empty({width * call.op.repeats}, matrix.options());
  for (std::int32_t i = 0; i < call.op.repeats; ++i) {
    at::Tensor part = own.narrow(0, i * width, width);
    group.reduce_scatter(call.op, part, piece_of(matrix, i * width, width).view({-1}));
  }
  return own;
}

/// The rows of all ranks: [ranks, columns] from each rank's own [columns].
at::Tensor all_gather_columns(Call& call, const at::Tensor& own) {
  Communicator& group = call.rank.groups.of(call.op);
  const std::int64_t width = call.op.payload_elements / group.size();
  check_cover(call, width, own.numel());
  at::Tensor all = at::empty({call.op.repeats, group.size(), width}, own.options());
  for (std::int32_t i = 0; i < call.op.repeats; ++i) {
    at::Tensor whole = all[i].view({-1});
    group.all_gather(call.op, whole, piece_of(own.view({1, -1}), i * width, width).view({-1}));
  }
  return all.transpose(0, 1).reshape({group.size(), -1});
}

/// Flat tensors as one where they lie side by side in one storage; else undefined.
at::Tensor as_they_lie(const std::vector<at::Tensor>& tensors) {
  const at::Tensor& first = tensors.front();
  std::int64_t elements = 0;
  for (const at::Tensor& tensor : tensors) {
    const bool follows = tensor.is_alias_of(first) && tensor.is_contiguous() &&
                         tensor.storage_offset() == first.storage_offset() + elements;
    if (!follows) return {};
    elements += tensor.numel();
  }
  return first.as_strided({elements}, {1});
}

/// A buffer summed over the ranks in place, piece by piece.
void all_reduce_pieces(Call& call, const at::Tensor& joined) {
  const std::int64_t width = call.op.payload_elements;
  check_cover(call, width, joined.numel());
  for (std::int32_t i = 0; i < call.op.repeats; ++i) {
    at::Tensor piece = piece_of(joined.view({1, -1}), i * width, width).view({-1});
    call.rank.groups.of(call.op).all_reduce(call.op, piece);
    if (piece.is_alias_of(joined)) continue;  // else the last one, with zeros beyond the end
    const std::int64_t begin = std::min(i * width, joined.numel());
    joined.narrow(0, begin, joined.numel() - begin)
        .copy_(piece.narrow(0, 0, joined.numel() - begin));
  }
}

/// Tensors summed over the ranks in place, side by side in one buffer.
void all_reduce_flat(Call& call, const std::vector<at::Tensor>& tensors) {
  const at::Tensor in_place = as_they_lie(tensors);
  if (in_place.defined()) return all_reduce_pieces(call, in_place);
  const at::Tensor joined = at::cat(tensors);
  all_reduce_pieces(call, joined);
  std::int64_t begin = 0;
  for (const at::Tensor& tensor : tensors) {
    tensor.copy_(joined.narrow(0, begin, tensor.numel()));
    begin += tensor.numel();
  }
}

/// A parameter and the gradient to reduce of it.
struct Leaving {
  StoredParameter* parameter;
  at::Tensor gradient;
};

/// Gradients that a reduction takes in: those that a backward handed over, or those held here.
std::vector<Leaving> leaving_gradients(Call& call, bool handed_over) {
  const bool expert = is_of_experts(call.op.group);
  std::vector<Leaving> found;
  std::size_t next = 0;
  for (const std::int32_t id : units(call)) {
    StoredUnit& unit = call.rank.store.unit(id);
    at::Tensor whole;
    // A block without experts hands nothing over where only gradients of experts leave.
    if (handed_over && unit.leaving_elements > 0) whole = call.gathered_reads.at(next++)->value;
    for (StoredParameter& parameter : unit.parameters) {
      if (parameter.slice.expert != expert || parameter.frozen) continue;
      StoredParameter* holder = &parameter.holder();
      if (handed_over) {
        found.push_back({holder, whole.narrow(0, parameter.reduce_offset, parameter.padded)});
      } else if (parameter.owner == nullptr) {
        found.push_back({holder, parameter.gradient});
      }
    }
  }
  return found;
}

void scatter_gradients(Call& call) {
  const Sharding& sharding = call.rank.plan.sharding;
  const StateLayout& layout = call.rank.store.layout(is_of_experts(call.op.group));
  const std::int64_t ranks = call.rank.groups.of(call.op).size();
  const bool outer =
      call.op.group == GroupKind::kShardOuter || call.op.group == GroupKind::kExpertShardOuter;
  const bool handed_over = sharding.gradients != Spread::kNone && !outer;
  const std::vector<Leaving> leaving = leaving_gradients(call, handed_over);
  std::vector<at::Tensor> rows;
  rows.reserve(leaving.size());
  for (const Leaving& one : leaving) rows.push_back(rows_for(call, layout, one.gradient, ranks));
  const at::Tensor own = reduce_scatter_columns(call, at::cat(rows, 1));
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < leaving.size(); ++i) {
    const at::Tensor sum = own.narrow(0, begin, rows[i].size(1));
    begin += sum.numel();
    StoredParameter& parameter = *leaving[i].parameter;
    if (handed_over) {
      parameter.gradient.add_(sum);
    } else {
      parameter.optimizer_gradient().copy_(sum);
    }
  }
}

void reduce_gradients(Call& call) {
  if (call.op.kind == OperatorKind::kReduceScatter) return scatter_gradients(call);
  std::vector<at::Tensor> parts;
  for (const Leaving& one : leaving_gradients(call, false)) {
    parts.push_back(one.parameter->optimizer_gradient());
  }
  all_reduce_flat(call, parts);
}

/// The gathered parameters of a block, before each use.
void gather_parameters(Call& call) {
  const bool expert = is_of_experts(call.op.group);
  StoredUnit& unit = call.rank.store.unit(call.item.units.front());
  at::Tensor& whole = call.gathered_writes.front()->value;
  if (!whole.defined()) {
    whole = at::empty({unit.gathered_elements}, call.rank.options_of(call.op.dtype));
  }
  std::vector<at::Tensor> own;
  for (const StoredParameter* parameter : unit.used(expert)) own.push_back(parameter->value);
  const at::Tensor rows = all_gather_columns(call, at::cat(own));
  std::int64_t column = 0;
  for (const StoredParameter& parameter : unit.parameters) {
    if (parameter.slice.expert != expert) continue;
    const std::int64_t width = parameter.padded / rows.size(0);
    store_rows(call, *parameter.layout, rows.narrow(1, column, width),
               whole.narrow(0, parameter.gather_offset, parameter.padded));
    column += width;
  }
}

/// Resident parameters after an update of shards finer than they are.
void gather_updated(Call& call) {
  const bool expert = is_of_experts(call.op.group);
  Parameters parameters;
  std::vector<at::Tensor> own;
  for (const std::int32_t id : units(call)) {
    for (StoredParameter* parameter : call.rank.store.unit(id).own(expert)) {
      parameters.push_back(parameter);
      own.push_back(parameter->optimizer_value());
    }
  }
  const at::Tensor rows = all_gather_columns(call, at::cat(own));
  std::int64_t column = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    store_rows(call, *parameters[i]->layout, rows.narrow(1, column, own[i].numel()),
               parameters[i]->value);
    column += own[i].numel();
  }
}

void reduce_small(Call& call, bool tied) {
  std::vector<at::Tensor> gradients;
  const bool expert = is_of_experts(call.op.group);
  for (const std::int32_t id : call.rank.store.order()) {
    for (const StoredParameter* parameter : call.rank.store.unit(id).own(expert)) {
      if (tied ? parameter->slice.name == kEmbeddingTable : parameter->slice.partial)
        gradients.push_back(parameter->gradient);
    }
  }
  all_reduce_flat(call, gradients);
}

}  // namespace

void run_state_message(Call& call) {
  StepSums& sums = call.rank.sums;
  switch (call.op.purpose) {
    case Purpose::kGatherParameters: return gather_parameters(call);
    case Purpose::kGatherUpdated: return gather_updated(call);
    case Purpose::kReduceGradients: return reduce_gradients(call);
    case Purpose::kReduceReplicated: return reduce_small(call, false);
    case Purpose::kReduceTiedTable: return reduce_small(call, true);
    case Purpose::kShareNorm:
      return all_reduce_flat(
          call, {is_of_experts(call.op.group) ? sums.expert_square : sums.dense_square});
    case Purpose::kShareLoads: {
      std::vector<at::Tensor> loads;
      for (const StoredParameter* bias : call.rank.store.buffers()) {
        if (!bias->frozen) loads.push_back(bias->gradient);
      }
      return all_reduce_flat(call, loads);
    }
    case Purpose::kShareLoss: return all_reduce_flat(call, {sums.loss});
    default: break;
  }
  throw Error(ErrorKind::kUnsupported, fmt::format("{}: no message about states", call.op.name));
}

}  // namespace stepwright
