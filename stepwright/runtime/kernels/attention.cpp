// Kernels of the attention core, which reads queries, keys and values side by side in each row.
// With context parallelism keys and values are separate operands: those of one other rank (ring) or
// of all ranks (all-gather).
#include <bit>
#include <cmath>
#include <limits>

#include "stepwright/runtime/data/batches.h"
#include "stepwright/runtime/kernels/attention_math.h"
#include "stepwright/runtime/kernels/dropout_mask.h"
#include "stepwright/runtime/kernels/kernels.h"
#include "stepwright/runtime/kernels/rotary_frequencies.h"

namespace stepwright::runtime {
namespace {

constexpr std::string_view kSinks = "attention.sinks";

std::int64_t query_width(const step::OperatorShape& s) { return s.heads * s.head_dim; }

/// Returns the positions of the rows of one sequence on a context rank.
at::Tensor positions_of(const KernelCall& call, std::int64_t context_rank) {
  const step::StepBuildSettings& s = call.rank.setting;
  return at::tensor(context_rank_token_positions(s.length, s.context, context_rank),
                    call.rank.index_tensor_options());
}

/// The keys and values of an attention, and their positions.
struct Visitors {
  at::Tensor rows;  ///< Rows of keys and values, [tokens, columns].
  at::Tensor positions;
  bool whole = false;  ///< True if keys belong to the same whole sequence as the queries.
};

/// Returns the numbers of a call's heads among the model's heads.
at::Tensor heads_of_call(const KernelCall& call) {
  const step::StepBuildSettings& s = call.rank.setting;
  const bool exchanged = s.context > 1 && s.context_kind == plan::ContextKind::kUlysses;
  const std::int64_t first = call.rank.place.tensor * s.heads() +
                             (exchanged ? call.rank.place.context * call.op.shape.heads : 0);
  return at::arange(first, first + call.op.shape.heads, call.rank.index_tensor_options());
}

/// Returns a slope for each head. With n the largest power of two up to the number of heads, the
/// first n slopes are evenly spaced powers of two down to 2^-8; the remaining ones lie between
/// these (ALiBi, arXiv 2108.12409; huggingface/transformers models/bloom/modeling_bloom.py,
/// `build_alibi_tensor`).
at::Tensor slopes_of(const KernelCall& call) {
  const auto exact = call.rank.tensor_options_of(call.rank.setting.exact);
  const auto even = static_cast<std::int64_t>(
      std::bit_floor(static_cast<std::uint64_t>(call.rank.setting.model->heads)));
  const at::Tensor head = heads_of_call(call).to(exact.dtype());
  const at::Tensor place = at::where(head.lt(static_cast<double>(even)), head + 1,
                                     head - static_cast<double>(even) + 0.5);
  return at::exp2(place * (-8.0 / static_cast<double>(even)));
}

/// Returns the row numbers of the probabilities among those of all heads of the global batch, by
/// sequence, head and query: [batch * heads * queries].
at::Tensor probability_rows(const KernelCall& call, const at::Tensor& queries) {
  const step::StepBuildSettings& s = call.rank.setting;
  const at::Tensor sequences =
      call.batch->places.view({s.batch, -1}).select(1, 0).div(s.length, "floor");
  const at::Tensor matrices = sequences.unsqueeze(1) * s.model->heads + heads_of_call(call);
  return (matrices.unsqueeze(2) * s.length + queries).flatten();
}

AttentionDropout dropout_of(const KernelCall& call, const AttentionMask& mask) {
  const double probability = call.rank.setting.model->dropout;
  if (probability == 0) return {};
  const at::Tensor kept =
      dropout_keep_mask(dropout_generator_inputs(call, BlockDropoutKind::kProbabilities),
                        {.rows = probability_rows(call, mask.queries),
                         .columns = mask.keys,
                         .width = call.rank.setting.length});
  const step::OperatorShape& s = call.op.shape;
  return {.kept = kept.view({s.batch, s.heads, mask.queries.numel(), mask.keys.numel()}),
          .probability = probability};
}

/// Returns the keys that an indexer chose for each query, the last operand; undefined: all.
at::Tensor chosen_keys(const KernelCall& call) {
  if (!call.rank.setting.model->has_sparse_attention_indexer()) return {};
  const at::Tensor& rows = call.read_operand(call.reads.size() - 1);
  return rows.view({call.op.shape.batch, call.op.shape.queries, -1});
}

AttentionInputs inputs(const KernelCall& call, const at::Tensor& qkv, const Visitors& visitors) {
  const step::OperatorShape& s = call.op.shape;
  const std::int64_t k = s.kv_heads * s.head_dim;
  const std::int64_t v = s.kv_heads * s.value_dim;
  AttentionInputs in{
      .queries = split_rows_into_heads(qkv.narrow(1, 0, query_width(s)), s.batch, s.heads),
      .keys = split_rows_into_heads(visitors.rows.narrow(1, 0, k), s.batch, s.kv_heads),
      .values = split_rows_into_heads(visitors.rows.narrow(1, k, v), s.batch, s.kv_heads)};
  in.mask = {
      .queries = visitors.whole ? visitors.positions : positions_of(call, call.rank.place.context),
      .keys = visitors.positions,
      .whole = visitors.whole};
  if (const at::Tensor& documents = call.batch->documents; documents.defined()) {
    in.mask.query_documents = documents.index_select(1, in.mask.queries);
    in.mask.key_documents = documents.index_select(1, in.mask.keys);
  }
  const model::LayerClass layer = call.layer_class();
  in.mask.window = layer.window;
  in.mask.chunked = layer.chunked;
  in.mask.chosen = chosen_keys(call);
  const model::ModelArchitecture& model = *call.rank.setting.model;
  in.scale = attention_score_scale(model);
  in.cap = model.attention_cap;
  if (model.position == model::PositionEncoding::kAlibi) in.slopes = slopes_of(call);
  in.dropout = dropout_of(call, in.mask);
  return in;
}

/// Returns the keys and values within rows of queries, keys and values.
at::Tensor own_rows(const KernelCall& call, const at::Tensor& qkv) {
  const step::OperatorShape& s = call.op.shape;
  return qkv.narrow(1, query_width(s), s.kv_heads * (s.head_dim + s.value_dim));
}

Visitors own(const KernelCall& call, const at::Tensor& qkv) {
  const step::StepBuildSettings& s = call.rank.setting;
  const bool whole = s.context == 1 || s.context_kind == plan::ContextKind::kUlysses;
  return {.rows = own_rows(call, qkv),
          .positions = whole ? at::arange(s.length, call.rank.index_tensor_options())
                             : positions_of(call, call.rank.place.context),
          .whole = whole};
}

/// Returns the keys and values of all ranks as an all-gather orders them: by rank, then by
/// sequence.
Visitors of_all(const KernelCall& call, const at::Tensor& rows) {
  const step::StepBuildSettings& s = call.rank.setting;
  std::vector<at::Tensor> positions;
  for (std::int64_t r = 0; r < s.context; ++r) positions.push_back(positions_of(call, r));
  return {.rows = rows.view({s.context, s.batch, s.local_length(), -1})
                      .transpose(0, 1)
                      .reshape({rows.size(0), rows.size(1)}),
          .positions = at::cat(positions)};
}

/// Returns the keys and values of the rank that is as many steps back in the ring as this
/// attention's number: the ring's attentions are in order in the template.
Visitors of_ring(const KernelCall& call, const at::Tensor& rows) {
  std::int64_t step = 0;
  for (const step::Operator& op : call.piece.operators) {
    if (&op == &call.op) break;
    if (op.kind == step::OperatorKind::kAttention && op.phase == call.op.phase) ++step;
  }
  const std::int64_t ranks = call.rank.setting.context;
  return {.rows = rows,
          .positions = positions_of(call, (call.rank.place.context + ranks - step) % ranks)};
}

bool gathers_keys(const KernelCall& call) {
  return call.rank.setting.context > 1 &&
         call.rank.setting.context_kind == plan::ContextKind::kAllGather;
}

AttentionResult result_of(const KernelCall& call, const at::Tensor& out, const at::Tensor& lse) {
  const step::OperatorShape& s = call.op.shape;
  return {.out = split_rows_into_heads(out, s.batch, s.heads),
          .log_sum_exp = split_rows_into_heads(lse, s.batch, s.heads).squeeze(-1)};
}

at::Tensor lse_rows(const KernelCall& call, const at::Tensor& lse) {
  return join_heads_into_rows(lse.unsqueeze(-1)).to(scalar_type(call.rank.setting.exact));
}

at::Tensor joined(const AttentionGradients& g) {
  return at::cat({join_heads_into_rows(g.keys), join_heads_into_rows(g.values)}, 1);
}

/// Returns the sinks of this rank's heads (or their gradient) out of those of its tensor rank.
at::Tensor own_sinks(const KernelCall& call, const at::Tensor& all) {
  const std::int64_t heads = call.op.shape.heads;
  return heads == all.numel() ? all : all.narrow(0, call.rank.place.context * heads, heads);
}

void add_sinks_gradient(const KernelCall& call, std::size_t out) {
  if (!call.rank.setting.model->sinks) return;
  const step::OperatorShape& s = call.op.shape;
  accumulate_gradient(
      own_sinks(call, call.gradient(kSinks)),
      attention_sinks_gradient(result_of(call, call.read_operand(out), call.read_operand(out + 1)),
                               own_sinks(call, call.operator_weight(kSinks)),
                               split_rows_into_heads(call.read_operand(0), s.batch, s.heads)));
}

/// Returns the gradient of rows of queries, keys, values and any columns after these.
at::Tensor of_rows(const AttentionGradients& g, const at::Tensor& rows) {
  at::Tensor d = at::cat({join_heads_into_rows(g.queries), joined(g)}, 1);
  const std::int64_t behind = rows.size(1) - d.size(1);
  return behind == 0 ? d : at::constant_pad_nd(d, {0, behind});
}

/// Returns the gradients of a call; those of keys are in the order of the visitors.
AttentionGradients gradients(const KernelCall& call, const Visitors& visitors, std::size_t out) {
  const step::OperatorShape& s = call.op.shape;
  return compute_attention_gradients(
      inputs(call, call.read_operand(1), visitors),
      result_of(call, call.read_operand(out), call.read_operand(out + 1)),
      split_rows_into_heads(call.read_operand(0), s.batch, s.heads));
}

void gathered_backward(KernelCall& call) {
  const step::StepBuildSettings& s = call.rank.setting;
  const at::Tensor& qkv = call.read_operand(1);
  const AttentionGradients g = gradients(call, of_all(call, call.read_operand(2)), 3);
  add_sinks_gradient(call, 3);
  at::Tensor d_qkv = at::zeros_like(qkv);
  d_qkv.narrow(1, 0, query_width(call.op.shape)).copy_(join_heads_into_rows(g.queries));
  call.write_result(0, std::move(d_qkv));
  const at::Tensor d_all = joined(g);
  call.write_result(1, d_all.view({s.batch, s.context, s.local_length(), -1})
                           .transpose(0, 1)
                           .reshape({d_all.size(0), d_all.size(1)}));
}

/// Operands: d_out, qkv, visiting keys and values, out, statistics, the visitors' gradient so far
/// (absent in the first step), d_qkv.
void visiting_backward(KernelCall& call) {
  const AttentionGradients g = gradients(call, of_ring(call, call.read_operand(2)), 3);
  const bool first = call.reads.size() == 6;
  const at::Tensor d_visitors = joined(g);
  at::Tensor d_qkv = call.read_operand(call.reads.size() - 1);
  d_qkv.narrow(1, 0, query_width(call.op.shape)).add_(join_heads_into_rows(g.queries));
  call.write_result(0, std::move(d_qkv));
  call.write_result(1, first ? d_visitors : d_visitors + call.read_operand(5));
}

}  // namespace

void attention_forward(KernelCall& call) {
  if (call.op.part == step::LayerPart::kIndexScores) return choose_keys(call);
  const at::Tensor& qkv = call.read_operand(0);
  const bool of_others =
      call.has_operand(1) && !call.rank.setting.model->has_sparse_attention_indexer();
  Visitors visitors = of_others ? Visitors{} : own(call, qkv);
  if (of_others) {
    visitors = gathers_keys(call) ? of_all(call, call.read_operand(1))
                                  : of_ring(call, call.read_operand(1));
  }
  AttentionResult result = compute_attention(inputs(call, qkv, visitors));
  if (call.reads.size() == 4) {
    result = merge_attention_results(result_of(call, call.read_operand(2), call.read_operand(3)),
                                     result);
  } else if (call.rank.setting.model->sinks) {  // added once, with the first keys of a ring
    result = add_attention_sinks(result, own_sinks(call, call.operator_weight(kSinks)));
  }
  call.write_result(0, join_heads_into_rows(result.out));
  call.write_result(1, lse_rows(call, result.log_sum_exp));
  if (call.writes.size() > 2) call.write_result(2, join_heads_into_rows(result.out));
}

void attention_backward(KernelCall& call) {
  if (call.op.part == step::LayerPart::kIndexScores) return choose_keys_backward(call);
  if (gathers_keys(call)) return gathered_backward(call);
  const bool of_others =
      call.reads.size() > 4 && !call.rank.setting.model->has_sparse_attention_indexer();
  if (of_others) return visiting_backward(call);
  const AttentionGradients g = gradients(call, own(call, call.read_operand(1)), 2);
  add_sinks_gradient(call, 2);
  call.write_result(0, of_rows(g, call.read_operand(1)));
}

}  // namespace stepwright::runtime
