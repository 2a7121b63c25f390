// The three kinds of context parallelism around the attention core: ring, all-gather and Ulysses.
#include <cmath>

#include "stepwright/core/divide_up.h"
#include "stepwright/step/attention_core.h"

namespace stepwright::step {
namespace {

Operator context_message(const BlockBuildContext& e, OperatorKind kind, Phase phase, LayerPart part,
                         std::int64_t elements, Purpose purpose = Purpose::kPlain) {
  return {.kind = kind,
          .phase = phase,
          .stream = message_stream(e.s, Scheme::kContext),
          .scheme = Scheme::kContext,
          .group = plan::GroupKind::kContext,
          .dtype = e.s.storage,
          .payload_elements = elements,
          .part = part,
          .purpose = purpose};
}

/// Query-key pairs that the causal mask leaves between a rank's queries and the keys received from
/// one other rank: half of all pairs of each document. Either all queries see half of the keys, or
/// the later half of the queries sees all keys.
double visiting_pairs(const Setting& s) {
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
  Shape own, visiting;
};

/// Zig-zag halves balance the causal work, so that every rank has the same share of the pairs in
/// each step. The causal mask cuts only a rank's own keys: of received keys either all queries see
/// half, or the later half of the queries sees all. Window masks cut every step.
RingSteps ring_steps(const Setting& s, const model::LayerClass& layer) {
  const std::int64_t length = s.local_length();
  const std::int64_t pairs = mean_sequence_query_key_pairs(s, layer) / s.context;
  if (layer.window > 0) {
    const Shape mean = attention_shape(s, length, length, 1, pairs / s.context);
    return {mean, mean};
  }
  const std::int64_t visiting = std::llround(visiting_pairs(s));
  return {attention_shape(s, length, length, 1, pairs - (s.context - 1) * visiting),
          attention_shape(s, length, ceil_divide(visiting, length), 1, visiting)};
}

/// Sends `from` to the next rank of the ring and receives into a new buffer.
TensorId shift(BlockBuildContext& e, TensorId from, std::int64_t columns, Phase phase,
               LayerPart part) {
  const TensorId to = create_message_buffer(e, name_of(part), e.s.tokens, columns);
  e.out.add(context_message(e, OperatorKind::kShift, phase, part, e.s.tokens * columns), {from},
            {to});
  return to;
}

/// Exchanges the core's output, or its gradient, between the layout split by heads and the layout
/// split by tokens.
TensorId exchange_out(BlockBuildContext& e, TensorId from, const ActivationMatrixSize& to_sheet,
                      Phase phase) {
  const TensorId to = create_message_buffer(e, "context.out", to_sheet.rows, to_sheet.columns);
  e.out.add(context_message(e, OperatorKind::kAllToAll, phase, LayerPart::kContextOut,
                            to_sheet.rows * to_sheet.columns, Purpose::kAttentionOut),
            {from}, {to});
  return to;
}

/// Writes the three exchanges of queries, keys and values, one message each, to the layout split by
/// heads or back.
TensorId exchange_qkv(BlockBuildContext& e, TensorId from, TensorId to, Phase phase) {
  const Setting& s = e.s;
  const struct {
    LayerPart part;
    Purpose purpose;
    std::int64_t width;
  } messages[] = {
      {LayerPart::kContextQueries, Purpose::kQueries, s.heads() * s.model->head_dim},
      {LayerPart::kContextKeys, Purpose::kKeys, s.kv_heads() * s.model->head_dim},
      {LayerPart::kContextValues, Purpose::kValues, s.kv_heads() * s.model->value_dim()},
  };
  for (const auto& m : messages) {
    e.out.add(
        context_message(e, OperatorKind::kAllToAll, phase, m.part, s.tokens * m.width, m.purpose),
        {from}, {to});
  }
  return to;
}

Shape ulysses_shape(const Setting& s, const model::LayerClass& layer) {
  return attention_shape(s, s.length, s.length, s.context, mean_sequence_query_key_pairs(s, layer));
}

Shape gathered_shape(const Setting& s, const model::LayerClass& layer) {
  return attention_shape(s, s.local_length(), s.length, 1,
                         mean_sequence_query_key_pairs(s, layer) / s.context);
}

TensorId gather_key_values(BlockBuildContext& e, TensorId qkv, Phase phase) {
  const std::int64_t width = key_value_width(e.s);
  const std::int64_t rows = e.s.tokens * e.s.context;
  const TensorId all = create_message_buffer(e, "gathered", rows, width);
  e.out.add(
      context_message(e, OperatorKind::kAllGather, phase, LayerPart::kKeyValues, rows * width),
      {qkv}, {all});
  return all;
}

}  // namespace

TensorId ring_attention(BlockBuildContext& e, TensorId qkv, const model::LayerClass& layer) {
  const Setting& s = e.s;
  const RingSteps steps = ring_steps(s, layer);
  const TensorId out = activation(e, "attention.out", s.tokens, s.heads() * s.model->value_dim());
  const TensorId lse = activation(e, "log_sum_exp", s.exact, s.tokens, s.heads());
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
               first ? TensorId{-1} : lse, first ? sink_weights(e) : TensorId{-1}},
              {out, lse});
    key_values = next;
  }
  e.kept.set(Keep::kLogSumExp, lse);
  return out;
}

TensorId ring_attention_backward(BlockBuildContext& e, TensorId d_out,
                                 const model::LayerClass& layer) {
  const Setting& s = e.s;
  const RingSteps steps = ring_steps(s, layer);
  const Phase phase = Phase::kDataGradient;
  const TensorId qkv = kept(e, Keep::kQkv);
  const TensorId out = kept(e, Keep::kAttentionOut);
  const TensorId log_sum_exp = kept(e, Keep::kLogSumExp);
  const TensorId d_qkv = activation(e, "gradient", s.tokens, attention_projection_width(s));
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
               own ? TensorId{-1} : d_qkv, own ? sink_weights(e) : TensorId{-1}},
              {d_qkv, own ? sink_gradients(e) : d_kv});
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

TensorId gathered_attention(BlockBuildContext& e, TensorId qkv, const model::LayerClass& layer) {
  const Setting& s = e.s;
  const Shape shape = gathered_shape(s, layer);
  const TensorId all = gather_key_values(e, qkv, e.forward);
  const TensorId out = activation(e, "attention.out", s.tokens, s.heads() * s.model->value_dim());
  const TensorId lse = activation(e, "log_sum_exp", s.exact, s.tokens, s.heads());
  e.out.add(computation(e, OperatorKind::kAttention, e.forward, LayerPart::kAttentionCore, shape),
            {qkv, all, sink_weights(e)}, {out, lse});
  e.kept.set(Keep::kLogSumExp, lse);
  return out;
}

TensorId gathered_attention_backward(BlockBuildContext& e, TensorId d_out,
                                     const model::LayerClass& layer) {
  const Setting& s = e.s;
  const Phase phase = Phase::kDataGradient;
  const std::int64_t width = key_value_width(s);
  const std::int64_t rows = s.tokens * s.context;
  const TensorId qkv = kept(e, Keep::kQkv);
  const TensorId out = kept(e, Keep::kAttentionOut);
  const TensorId log_sum_exp = kept(e, Keep::kLogSumExp);
  const TensorId all = gather_key_values(e, qkv, phase);
  const TensorId d_all = create_message_buffer(e, "gradient", rows, width);
  const TensorId d_qkv = activation(e, "gradient", s.tokens, attention_projection_width(s));
  e.out.add({.kind = OperatorKind::kAttention,
             .phase = phase,
             .dtype = s.storage,
             .shape = gathered_shape(s, layer),
             .part = LayerPart::kAttentionCore},
            {d_out, qkv, all, out, log_sum_exp, sink_weights(e)},
            {d_qkv, d_all, sink_gradients(e)});
  e.out.add(context_message(e, OperatorKind::kReduceScatter, phase, LayerPart::kKeyValuesGradient,
                            rows * width),
            {d_all, d_qkv}, {d_qkv});
  return d_qkv;
}

TensorId ulysses_attention(BlockBuildContext& e, TensorId qkv, const model::LayerClass& layer) {
  const Setting& s = e.s;
  const std::int64_t rows = s.tokens * s.context;
  const TensorId heads_qkv = activation(e, "heads", rows, query_key_value_width(s) / s.context);
  exchange_qkv(e, qkv, heads_qkv, e.forward);
  e.kept.set(Keep::kHeadsQkv, heads_qkv);
  const TensorId heads_out = append_local_attention(e, heads_qkv, ulysses_shape(s, layer));
  e.kept.set(Keep::kHeadsOut, heads_out);
  return exchange_out(e, heads_out, {s.tokens, s.heads() * s.model->value_dim()}, e.forward);
}

TensorId ulysses_attention_backward(BlockBuildContext& e, TensorId d_out,
                                    const model::LayerClass& layer) {
  const Setting& s = e.s;
  const Phase phase = Phase::kDataGradient;
  const std::int64_t width = s.heads() * s.model->value_dim();
  const TensorId heads_qkv = kept(e, Keep::kHeadsQkv);
  const TensorId heads_out = kept(e, Keep::kHeadsOut);
  const TensorId d_heads = exchange_out(e, d_out, {s.tokens * s.context, width / s.context}, phase);
  const TensorId d_heads_qkv =
      append_local_attention_backward(e, d_heads, heads_qkv, heads_out, ulysses_shape(s, layer));
  const TensorId d_qkv = activation(e, "gradient", s.tokens, attention_projection_width(s));
  return exchange_qkv(e, d_heads_qkv, d_qkv, phase);
}

}  // namespace stepwright::step
