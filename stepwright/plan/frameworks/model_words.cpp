#include "stepwright/plan/frameworks/model_words.h"

#include <algorithm>

#include "stepwright/model/layer_order.h"

namespace stepwright {
namespace {

template <class Holds>
bool any_layer(const Architecture& model, Holds holds) {
  return std::ranges::any_of(layers_of(model), holds);
}

constexpr ModelWord kModelWords[] = {
    {"experts", [](const Architecture& m) { return m.experts.has_value(); }},
    {"shared_experts",
     [](const Architecture& m) { return m.experts && m.experts->shared_ffn > 0; }},
    {"dense_layers",
     [](const Architecture& m) { return m.experts && !dense_layers_of(m).empty(); }},
    {"biased_routing",
     [](const Architecture& m) { return m.experts && m.experts->correction_bias; }},
    {"plain_routing",
     [](const Architecture& m) { return m.experts && !m.experts->normalize_top_k; }},
    {"latent_attention", [](const Architecture& m) { return m.latent.has_value(); }},
    {"indexers", [](const Architecture& m) { return m.has_indexer(); }},
    {"windows", [](const Architecture& m) { return !windows_of(m).empty(); }},
    {"mixed_windows",
     [](const Architecture& m) {
       const std::vector<std::int64_t> windows = windows_of(m);
       return !windows.empty() &&
              std::ranges::count(windows, windows.front()) != std::ssize(windows);
     }},
    {"layer_norm", [](const Architecture& m) { return m.norm == Norm::kLayer; }},
    {"embedding_norm", [](const Architecture& m) { return m.embedding_norm; }},
    {"parallel_residual", [](const Architecture& m) { return m.parallel_residual; }},
    {"qk_norm", [](const Architecture& m) { return m.qk_norm != QkNorm::kNone; }},
    {"qkv_bias", [](const Architecture& m) { return m.qkv_bias; }},
    {"bias", [](const Architecture& m) { return m.mlp_bias || m.attention_output_bias; }},
    {"head_bias", [](const Architecture& m) { return m.head_bias; }},
    {"tied", [](const Architecture& m) { return m.tied; }},
    {"ungated", [](const Architecture& m) { return !m.gated; }},
    {"gated_gelu",
     [](const Architecture& m) { return m.gated && m.activation != Activation::kSilu; }},
    {"relu", [](const Architecture& m) { return m.activation == Activation::kRelu; }},
    {"squared_relu",
     [](const Architecture& m) { return m.activation == Activation::kSquaredRelu; }},
    {"learned_positions", [](const Architecture& m) { return m.position == Position::kLearned; }},
    {"alibi", [](const Architecture& m) { return m.position == Position::kAlibi; }},
    {"no_positions", [](const Architecture& m) { return m.position == Position::kNone; }},
    {"partial_rotary", [](const Architecture& m) { return m.rotary_fraction != 1; }},
    {"rotary_factor",
     [](const Architecture& m) {
       return m.rotary_scaling && m.rotary_scaling->kind == RotaryScalingKind::kLlama3 &&
              m.rotary_scaling->factor != 8;
     }},
    {"scaled_rotary",
     [](const Architecture& m) {
       return m.rotary_scaling && m.rotary_scaling->kind != RotaryScalingKind::kLlama3;
     }},
    {"dropout", [](const Architecture& m) { return m.dropout != 0; }},
    {"sinusoidal_positions",
     [](const Architecture& m) { return m.position == Position::kSinusoidal; }},
    {"result_norms",
     [](const Architecture& m) {
       return any_layer(m, [&](const LayerClass& layer) { return m.norms_results(layer); });
     }},
    {"other_norms", [](const Architecture& m) { return !m.norm_weight || m.norm_unit_offset; }},
    {"wide_qk_norm",
     [](const Architecture& m) { return m.qk_norm > QkNorm::kHead || m.qk_norm_bias; }},
    {"attention_gate", [](const Architecture& m) { return m.attention_gate; }},
    {"sinks", [](const Architecture& m) { return m.sinks; }},
    {"scales",
     [](const Architecture& m) {
       return m.attention_scale != 0 || m.attention_cap != 0 || m.logit_cap != 0 ||
              m.logit_scale != 1 || m.embedding_scale != 1 || m.residual_scale != 1;
     }},
    {"expert_bias",
     [](const Architecture& m) {
       return m.experts && (m.experts->bias || m.experts->router_bias);
     }},
    {"other_routing",
     [](const Architecture& m) {
       return m.experts &&
              ((m.experts->scoring == Scoring::kSigmoid && !m.experts->correction_bias) ||
               m.experts->scale != 1);
     }},
    {"other_numbers",
     [](const Architecture& m) {
       return !m.beyond.empty() || m.gate_bias || m.activation == Activation::kXielu;
     }},
    {"state_mixers", [](const Architecture& m) { return carries_state(m); }},
    {"multi_token", [](const Architecture& m) { return m.predicted_ahead() > 0; }},
    {"other_layers", [](const Architecture& m) {
       return std::ranges::any_of(m.pattern, [](const LayerClass& layer) {
         return layer.mixer == Mixer::kNone || layer.feed_forward == FeedForward::kNone ||
                layer.chunked || !layer.rotated || layer.ffn != 0 || layer.norms.has_value() ||
                layer.beside != Mixer::kNone;
       });
     }}};

}  // namespace

std::span<const ModelWord> model_words() { return kModelWords; }

}  // namespace stepwright
