// Messages of context parallelism: keys and values that go round a ring or are gathered from all
// ranks, and the exchange of sequence parts for head parts (Ulysses).
#include <fmt/format.h>

#include "stepwright/core/error.h"
#include "stepwright/runtime/data/batches.h"
#include "stepwright/runtime/kernels/mixer_parts.h"
#include "stepwright/runtime/messages/groups.h"
#include "stepwright/runtime/messages/messages.h"

namespace stepwright::runtime {
namespace {

at::Tensor context_buffer(const KernelCall& call, at::IntArrayRef extents) {
  return at::empty(extents, call.rank.tensor_options_of(call.op.dtype));
}

std::int64_t query_width(const KernelCall& call) {
  return call.rank.setting.heads() * call.rank.setting.model->head_dim;
}

/// Returns the keys and values of rows, which may have queries before them and gates after them.
at::Tensor key_values(const KernelCall& call, const at::Tensor& rows, std::int64_t ranks) {
  const std::int64_t width = call.op.payload_elements / (rows.size(0) * ranks);
  const std::int64_t first = rows.size(1) == width ? 0 : query_width(call);
  return rows.narrow(1, first, width).contiguous();
}

void shift_rows(KernelCall& call) {
  const at::Tensor sent = key_values(call, call.read_operand(0), 1);
  check_payload_elements(call.op, sent.numel());
  at::Tensor received = at::empty_like(sent);
  call.rank.groups.communicator_of_operator(call.op).exchange_with_ring_neighbours(call.op, sent,
                                                                                   received);
  call.write_result(0, std::move(received));
}

void gather_rows_of_keys(KernelCall& call) {
  Communicator& group = call.rank.groups.communicator_of_operator(call.op);
  const at::Tensor part = key_values(call, call.read_operand(0), group.size());
  at::Tensor whole = context_buffer(call, {part.size(0) * group.size(), part.size(1)});
  check_payload_elements(call.op, whole.numel());
  group.all_gather(call.op, whole, part);
  call.write_result(0, std::move(whole));
}

void scatter_gradient_of_keys(KernelCall& call) {
  Communicator& group = call.rank.groups.communicator_of_operator(call.op);
  const at::Tensor whole = call.read_operand(0).contiguous();
  check_payload_elements(call.op, whole.numel());
  at::Tensor part = context_buffer(call, {whole.size(0) / group.size(), whole.size(1)});
  group.reduce_scatter(call.op, part, whole);
  at::Tensor rows = call.read_operand(1);
  rows.narrow(1, query_width(call), part.size(1)).add_(part);
  call.write_result(0, std::move(rows));
}

/// Returns the positions, in a whole sequence, of the rows of each context rank, by rank.
at::Tensor order_of_rows(const RankState& rank) {
  const step::StepBuildSettings& s = rank.setting;
  std::vector<at::Tensor> all;
  for (std::int64_t r = 0; r < s.context; ++r) {
    all.push_back(at::tensor(context_rank_token_positions(s.length, s.context, r),
                             rank.index_tensor_options()));
  }
  return at::cat(all);
}

/// The columns, in rows of queries, keys and values, that an exchange sends.
struct Columns {
  std::int64_t first;
  std::int64_t count;
};

Columns columns_of(const KernelCall& call) {
  const step::StepBuildSettings& s = call.rank.setting;
  const std::int64_t q = s.heads() * s.model->head_dim;
  const std::int64_t k = s.kv_heads() * s.model->head_dim;
  switch (call.op.purpose) {
    case step::OperatorPurpose::kKeys: return {q, k};
    case step::OperatorPurpose::kValues:
      return {q + k, s.kv_heads() * s.model->value_head_elements()};
    case step::OperatorPurpose::kAttentionOut:
      return {0, s.heads() * s.model->value_head_elements()};
    default: return {0, q};
  }
}

/// Exchanges this rank's tokens with all heads for all tokens (in the order of the sequence) with
/// this rank's heads.
at::Tensor to_heads(KernelCall& call, const at::Tensor& rows) {
  const step::StepBuildSettings& s = call.rank.setting;
  const at::Tensor sent = rows.view({rows.size(0), s.context, -1}).transpose(0, 1).contiguous();
  at::Tensor received = at::empty_like(sent);
  call.rank.groups.communicator_of_operator(call.op).all_to_all(call.op, received, sent);
  const at::Tensor by_rank = received.view({s.context, s.batch, s.local_length(), -1})
                                 .transpose(0, 1)
                                 .reshape({s.batch, s.length, -1});
  at::Tensor ordered = at::empty_like(by_rank);
  ordered.index_copy_(1, order_of_rows(call.rank), by_rank);
  return ordered.view({s.batch * s.length, -1});
}

/// Exchanges all tokens with this rank's heads back to this rank's tokens with all heads.
at::Tensor to_tokens(KernelCall& call, const at::Tensor& rows) {
  const step::StepBuildSettings& s = call.rank.setting;
  const at::Tensor by_rank =
      rows.reshape({s.batch, s.length, -1}).index_select(1, order_of_rows(call.rank));
  const at::Tensor sent =
      by_rank.view({s.batch, s.context, s.local_length(), -1}).transpose(0, 1).contiguous();
  at::Tensor received = at::empty_like(sent);
  call.rank.groups.communicator_of_operator(call.op).all_to_all(call.op, received, sent);
  return received.view({s.context, s.tokens, -1}).transpose(0, 1).reshape({s.tokens, -1});
}

void exchange_heads(KernelCall& call) {
  const step::StepBuildSettings& s = call.rank.setting;
  const bool out = call.op.purpose == step::OperatorPurpose::kAttentionOut;
  const bool outwards = (call.op.phase != step::Phase::kDataGradient) != out;
  const Columns whole = columns_of(call);
  const Columns part{whole.first / s.context, whole.count / s.context};
  const Columns from = outwards ? whole : part;
  const Columns into = outwards ? part : whole;
  const at::Tensor rows = call.read_operand(0).narrow(1, from.first, from.count);
  check_payload_elements(call.op, rows.numel());
  const at::Tensor moved = outwards ? to_heads(call, rows.contiguous()) : to_tokens(call, rows);
  if (out) return call.write_result(0, moved);
  at::Tensor& all = call.writes.front()->value;
  if (!all.defined() || call.op.purpose == step::OperatorPurpose::kQueries) {
    const std::int64_t kv = s.kv_heads() * (s.model->head_dim + s.model->value_head_elements());
    const std::int64_t width = s.heads() * s.model->head_dim + kv;
    const std::int64_t gates =
        s.model->attention_gate ? s.heads() * s.model->value_head_elements() : 0;
    all = at::zeros({moved.size(0), outwards ? width / s.context : width + gates}, moved.options());
  }
  all.narrow(1, into.first, into.count).copy_(moved);
}

/// Returns the columns of rows of a mixer's first projection, by context rank.
at::Tensor columns_by_rank(const KernelCall& call) {
  const MixerLayerSizes parts = mixer_parts(call.rank, call.layer_class().recurrent_mixer_kind());
  std::vector<at::Tensor> all;
  for (std::int64_t rank = 0; rank < parts.ranks; ++rank) {
    all.push_back(context_rank_column_indices(parts, parts.input_projection_part_widths(), rank,
                                              call.rank.index_tensor_options()));
  }
  return at::cat(all);
}

/// Exchanges rows of a mixer with a state: tokens for heads before it, and back after it.
void exchange_mixer(KernelCall& call) {
  const at::Tensor& rows = call.read_operand(0);
  check_payload_elements(call.op, rows.numel());
  const bool in = call.op.part == step::LayerPart::kContextMixerIn;
  const bool outwards = (call.op.phase != step::Phase::kDataGradient) == in;
  if (!in) return call.write_result(0, outwards ? to_heads(call, rows) : to_tokens(call, rows));
  const at::Tensor order = columns_by_rank(call);
  if (outwards) return call.write_result(0, to_heads(call, rows.index_select(1, order)));
  const at::Tensor by_rank = to_tokens(call, rows);
  at::Tensor ordered = at::empty_like(by_rank);
  ordered.index_copy_(1, order, by_rank);
  call.write_result(0, std::move(ordered));
}

void sum_over_context(KernelCall& call) {
  at::Tensor buffer = call.read_operand(0).contiguous();
  check_payload_elements(call.op, buffer.numel());
  call.rank.groups.communicator_of_operator(call.op).all_reduce(call.op, buffer);
  call.write_result(0, std::move(buffer));
}

bool is_of_mixer(step::LayerPart part) {
  return part == step::LayerPart::kContextMixerIn || part == step::LayerPart::kContextMixerOut;
}

}  // namespace

void run_context_parallel_message(KernelCall& call) {
  switch (call.op.kind) {
    case step::OperatorKind::kShift: return shift_rows(call);
    case step::OperatorKind::kAllGather: return gather_rows_of_keys(call);
    case step::OperatorKind::kReduceScatter: return scatter_gradient_of_keys(call);
    case step::OperatorKind::kAllReduce: return sum_over_context(call);
    case step::OperatorKind::kAllToAll:
      return is_of_mixer(call.op.part) ? exchange_mixer(call) : exchange_heads(call);
    default: break;
  }
  throw Error(ErrorKind::kUnsupported,
              fmt::format("{}: no message of this kind between context ranks",
                          name_of(step::kOperatorNames, call.op.kind)));
}

}  // namespace stepwright::runtime
