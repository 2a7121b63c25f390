// The three kinds of context parallelism around the attention core: ring, all-gather and Ulysses.
#include <cmath>

#include "stepwright/core/divide_up.h"
#include "stepwright/step/attention_core.h"

namespace stepwright::step {
namespace {

Operator context_message(const ModelBlockBuildContext& e, OperatorKind kind, Phase phase,
                         LayerPart part, std::int64_t elements,
                         OperatorPurpose purpose = OperatorPurpose::kPlain) {
  return {.kind = kind,
          .phase = phase,
          .stream = stream_of_messages(e.s, ParallelismScheme::kContext),
          .scheme = ParallelismScheme::kContext,
          .group = plan::CommunicatorKind::kContext,
          .dtype = e.s.storage,
          .payload_elements = elements,
          .part = part,
          .purpose = purpose};
}

/// Query-key pairs that the causal mask leaves between a rank's queries and the keys received from
/// one other rank: half of all pairs of each document. Either all queries see half of the keys, or
/// the later half of the queries sees all keys.
double visiting_pairs(const StepBuildSettings& s) {
  const auto of = [&](double length) {
    const double local = length / static_cast<double>(s.context);
    return local * local / 2;
  };
  if (s.documents.empty()) return of(static_cast<double>(s.length));
  double pairs = 0;
  for (const auto& [length, count] : s.documents) pairs += of(static_cast<double>(length)) * count;
  return pairs;
}

/// Shapes of the attention core in a ring's steps: on the rank's own keys, and on keys received
/// from another rank.
struct RingSteps {
  OperatorShape own, visiting;
};

/// Zig-zag halves balance the causal work, so that every rank has the same share of the pairs in
/// each step. The causal mask cuts only a rank's own keys: of received keys either all queries see
/// half, or the later half of the queries sees all. Window masks cut every step.
RingSteps ring_steps(const StepBuildSettings& s, const model::LayerClass& layer) {
  const std::int64_t length = s.local_length();
  const std::int64_t pairs = mean_sequence_query_key_pairs(s, layer) / s.context;
  if (layer.window > 0) {
    const OperatorShape mean = attention_operator_shape(s, length, length, 1, pairs / s.context);
    return {mean, mean};
  }
  const std::int64_t visiting = std::llround(visiting_pairs(s));
  return {attention_operator_shape(s, length, length, 1, pairs - (s.context - 1) * visiting),
          attention_operator_shape(s, length, ceil_divide(visiting, length), 1, visiting)};
}

/// Sends `from` to the next rank of the ring and receives into a new buffer.
TensorId shift(ModelBlockBuildContext& e, TensorId from, std::int64_t columns, Phase phase,
               LayerPart part) {
  const TensorId to = create_message_buffer(e, layer_part_name(part), e.s.tokens, columns);
  e.out.add(context_message(e, OperatorKind::kShift, phase, part, e.s.tokens * columns), {from},
            {to});
  return to;
}

/// Exchanges the core's output, or its gradient, between the layout split by heads and the layout
/// split by tokens.
TensorId exchange_out(ModelBlockBuildContext& e, TensorId from,
                      const ActivationMatrixSize& to_sheet, Phase phase) {
  const TensorId to = create_message_buffer(e, "context.out", to_sheet.rows, to_sheet.columns);
  e.out.add(context_message(e, OperatorKind::kAllToAll, phase, LayerPart::kContextOut,
                            to_sheet.rows * to_sheet.columns, OperatorPurpose::kAttentionOut),
            {from}, {to});
  return to;
}

/// Writes the three exchanges of queries, keys and values, one message each, to the layout split by
/// heads or back.
TensorId exchange_qkv(ModelBlockBuildContext& e, TensorId from, TensorId to, Phase phase) {
  const StepBuildSettings& s = e.s;
  const struct {
    LayerPart part;
    OperatorPurpose purpose;
    std::int64_t width;
  } messages[] = {
      {LayerPart::kContextQueries, OperatorPurpose::kQueries, s.heads() * s.model->head_dim},
      {LayerPart::kContextKeys, OperatorPurpose::kKeys, s.kv_heads() * s.model->head_dim},
      {LayerPart::kContextValues, OperatorPurpose::kValues,
       s.kv_heads() * s.model->value_head_elements()},
  };
  for (const auto& m : messages) {
    e.out.add(
        context_message(e, OperatorKind::kAllToAll, phase, m.part, s.tokens * m.width, m.purpose),
        {from}, {to});
  }
  return to;
}

OperatorShape ulysses_shape(const StepBuildSettings& s, const model::LayerClass& layer) {
  return attention_operator_shape(s, s.length, s.length, s.context,
                                  mean_sequence_query_key_pairs(s, layer));
}

OperatorShape gathered_shape(const StepBuildSettings& s, const model::LayerClass& layer) {
  return attention_operator_shape(s, s.local_length(), s.length, 1,
                                  mean_sequence_query_key_pairs(s, layer) / s.context);
}

TensorId gather_key_values(ModelBlockBuildContext& e, TensorId qkv, Phase phase) {
  const std::int64_t width = key_value_width(e.s);
  const std::int64_t rows = e.s.tokens * e.s.context;
  const TensorId all = create_message_buffer(e, "gathered", rows, width);
  e.out.add(
      context_message(e, OperatorKind::kAllGather, phase, LayerPart::kKeyValues, rows * width),
      {qkv}, {all});
  return all;
}

}  // namespace

TensorId ring_attention(ModelBlockBuildContext& e, TensorId qkv, const model::LayerClass& layer) {
  const StepBuildSettings& s = e.s;
  const RingSteps steps = ring_steps(s, layer);
  const TensorId out = create_activation_tensor(e, "attention.out", s.tokens,
                                                s.heads() * s.model->value_head_elements());
  const TensorId lse = create_activation_tensor(e, "log_sum_exp", s.exact, s.tokens, s.heads());
  TensorId key_values = qkv;
  for (std::int64_t step = 0; step < s.context; ++step) {
    TensorId next = -1;
    if (step + 1 < s.context) {
      next = shift(e, key_values, key_value_width(s), e.forward, LayerPart::kKeyValues);
    }
    const bool first = step == 0;
    e.out.add(computation(e, OperatorKind::kAttention, e.forward, LayerPart::kAttentionCore,
                          first ? steps.own : steps.visiting),
              {qkv, first ? TensorId{-1} : key_values, first ? TensorId{-1} : out,
               first ? TensorId{-1} : lse, first ? attention_sink_weights(e) : TensorId{-1}},
              {out, lse});
    key_values = next;
  }
  e.kept.set(KeptTensorRole::kLogSumExp, lse);
  return out;
}

TensorId ring_attention_backward(ModelBlockBuildContext& e, TensorId d_out,
                                 const model::LayerClass& layer) {
  const StepBuildSettings& s = e.s;
  const RingSteps steps = ring_steps(s, layer);
  const Phase phase = Phase::kDataGradient;
  const TensorId qkv = tensor_kept_by_forward(e, KeptTensorRole::kQkv);
  const TensorId out = tensor_kept_by_forward(e, KeptTensorRole::kAttentionOut);
  const TensorId log_sum_exp = tensor_kept_by_forward(e, KeptTensorRole::kLogSumExp);
  const TensorId d_qkv =
      create_activation_tensor(e, "gradient", s.tokens, attention_projection_width(s));
  TensorId key_values = qkv;
  // Gradient of the keys and values that were received, which is sent on with them.
  TensorId travelling = -1;
  for (std::int64_t step = 0; step < s.context; ++step) {
    TensorId next = -1;
    if (step + 1 < s.context) {
      next = shift(e, key_values, key_value_width(s), phase, LayerPart::kKeyValues);
    }
    const bool own = step == 0;
    const TensorId d_kv =
        own ? d_qkv : create_message_buffer(e, "gradient", s.tokens, key_value_width(s));
    e.out.add(computation(e, OperatorKind::kAttention, phase, LayerPart::kAttentionCore,
                          own ? steps.own : steps.visiting),
              {d_out, qkv, own ? TensorId{-1} : key_values, out, log_sum_exp, travelling,
               own ? TensorId{-1} : d_qkv, own ? attention_sink_weights(e) : TensorId{-1}},
              {d_qkv, own ? attention_sink_gradients(e) : d_kv});
    if (!own) {
      travelling = shift(e, d_kv, key_value_width(s), phase, LayerPart::kKeyValuesGradient);
    }
    key_values = next;
  }
  e.out.add(computation(e, OperatorKind::kAccumulate, phase, LayerPart::kKeyValuesGradient,
                        {.rows = s.tokens, .columns = key_value_width(s)}),
            {travelling, d_qkv}, {d_qkv});
  return d_qkv;
}

TensorId gathered_attention(ModelBlockBuildContext& e, TensorId qkv,
                            const model::LayerClass& layer) {
  const StepBuildSettings& s = e.s;
  const OperatorShape shape = gathered_shape(s, layer);
  const TensorId all = gather_key_values(e, qkv, e.forward);
  const TensorId out = create_activation_tensor(e, "attention.out", s.tokens,
                                                s.heads() * s.model->value_head_elements());
  const TensorId lse = create_activation_tensor(e, "log_sum_exp", s.exact, s.tokens, s.heads());
  e.out.add(computation(e, OperatorKind::kAttention, e.forward, LayerPart::kAttentionCore, shape),
            {qkv, all, attention_sink_weights(e)}, {out, lse});
  e.kept.set(KeptTensorRole::kLogSumExp, lse);
  return out;
}

TensorId gathered_attention_backward(ModelBlockBuildContext& e, TensorId d_out,
                                     const model::LayerClass& layer) {
  const StepBuildSettings& s = e.s;
  const Phase phase = Phase::kDataGradient;
  const std::int64_t width = key_value_width(s);
  const std::int64_t rows = s.tokens * s.context;
  const TensorId qkv = tensor_kept_by_forward(e, KeptTensorRole::kQkv);
  const TensorId out = tensor_kept_by_forward(e, KeptTensorRole::kAttentionOut);
  const TensorId log_sum_exp = tensor_kept_by_forward(e, KeptTensorRole::kLogSumExp);
  const TensorId all = gather_key_values(e, qkv, phase);
  const TensorId d_all = create_message_buffer(e, "gradient", rows, width);
  const TensorId d_qkv =
      create_activation_tensor(e, "gradient", s.tokens, attention_projection_width(s));
  e.out.add({.kind = OperatorKind::kAttention,
             .phase = phase,
             .dtype = s.storage,
             .shape = gathered_shape(s, layer),
             .part = LayerPart::kAttentionCore},
            {d_out, qkv, all, out, log_sum_exp, attention_sink_weights(e)},
            {d_qkv, d_all, attention_sink_gradients(e)});
  e.out.add(context_message(e, OperatorKind::kReduceScatter, phase, LayerPart::kKeyValuesGradient,
                            rows * width),
            {d_all, d_qkv}, {d_qkv});
  return d_qkv;
}

TensorId ulysses_attention(ModelBlockBuildContext& e, TensorId qkv,
                           const model::LayerClass& layer) {
  const StepBuildSettings& s = e.s;
  const std::int64_t rows = s.tokens * s.context;
  const TensorId heads_qkv =
      create_activation_tensor(e, "heads", rows, query_key_value_width(s) / s.context);
  exchange_qkv(e, qkv, heads_qkv, e.forward);
  e.kept.set(KeptTensorRole::kHeadsQkv, heads_qkv);
  const TensorId heads_out = append_local_attention(e, heads_qkv, ulysses_shape(s, layer));
  e.kept.set(KeptTensorRole::kHeadsOut, heads_out);
  return exchange_out(e, heads_out, {s.tokens, s.heads() * s.model->value_head_elements()},
                      e.forward);
}

TensorId ulysses_attention_backward(ModelBlockBuildContext& e, TensorId d_out,
                                    const model::LayerClass& layer) {
  const StepBuildSettings& s = e.s;
  const Phase phase = Phase::kDataGradient;
  const std::int64_t width = s.heads() * s.model->value_head_elements();
  const TensorId heads_qkv = tensor_kept_by_forward(e, KeptTensorRole::kHeadsQkv);
  const TensorId heads_out = tensor_kept_by_forward(e, KeptTensorRole::kHeadsOut);
  const TensorId d_heads = exchange_out(e, d_out, {s.tokens * s.context, width / s.context}, phase);
  const TensorId d_heads_qkv =
      append_local_attention_backward(e, d_heads, heads_qkv, heads_out, ulysses_shape(s, layer));
  const TensorId d_qkv =
      create_activation_tensor(e, "gradient", s.tokens, attention_projection_width(s));
  return exchange_qkv(e, d_heads_qkv, d_qkv, phase);
}

}  // namespace stepwright::step
