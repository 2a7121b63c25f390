#include "stepwright/plan/frameworks/model_words.h"

#include <algorithm>
#include <set>

#include "stepwright/model/layer_order.h"

namespace stepwright {
namespace {

template <class Holds>
bool any_layer(const Architecture& model, Holds holds) {
  if (model.pattern.empty()) return holds(model.usual_layer());
  return std::ranges::any_of(model.pattern, holds);
}

/// Whether linear layers beside those of queries, keys and values have biases.
bool has_bias(const Architecture& model) {
  return model.mlp_bias || model.attention_output_bias || (model.experts && model.experts->bias);
}

bool is_quick(Activation activation) {
  return activation == Activation::kQuickGelu || activation == Activation::kClampedSwiglu;
}

bool routes_by_sigmoids(const Architecture& model) {
  return model.experts &&
         (model.experts->scoring == Scoring::kSigmoid || model.experts->correction_bias);
}

/// Whether neither all projections have biases, nor none, nor those of queries, keys and values
/// alone. Routers whose choice is corrected have no other bias.
bool biases_parts(const Architecture& model) {
  std::set<bool> others;
  if (has_mixer(model, Mixer::kAttention)) others.insert(model.attention_output_bias);
  if (has_feed_forward(model, FeedForward::kDense)) others.insert(model.mlp_bias);
  if (model.experts) {
    others.insert(model.experts->bias);
    if (!model.experts->correction_bias) others.insert(model.experts->router_bias);
  }
  if (others.size() > 1) return true;
  const bool all = others.contains(true);
  return all && !model.qkv_bias && !model.latent && has_mixer(model, Mixer::kAttention);
}

bool has_other_state_mixer(const Architecture& model) {
  if (!model.state_mixer) return false;
  for (const Mixer kind : {Mixer::kDeltaNet, Mixer::kMamba2}) {
    if (has_mixer(model, kind) && *model.state_mixer != usual_mixer(kind, *model.state_mixer)) {
      return true;
    }
  }
  return false;
}

constexpr ModelWord kModelWords[] = {
    {"experts", [](const Architecture& m) { return m.experts.has_value(); }},
    {"shared_experts", [](const Architecture& m) { return m.has_shared_experts(); }},
    {"latent_experts", [](const Architecture& m) { return m.experts && m.experts->latent > 0; }},
    {"dense_layers",
     [](const Architecture& m) { return m.experts && !dense_layers_of(m).empty(); }},
    {"biased_routing",
     [](const Architecture& m) { return m.experts && m.experts->correction_bias; }},
    {"plain_routing",
     [](const Architecture& m) {
       return m.experts && !m.experts->normalize_top_k && !routes_by_sigmoids(m);
     }},
    {"latent_attention", [](const Architecture& m) { return m.latent.has_value(); }},
    {"indexers", [](const Architecture& m) { return m.has_indexer(); }},
    {"windows", [](const Architecture& m) { return !windows_of(m).empty(); }},
    {"mixed_windows",
     [](const Architecture& m) {
       const std::vector<std::int64_t> windows = windows_of(m);
       return !windows.empty() &&
              std::ranges::count(windows, windows.front()) != std::ssize(windows);
     }},
    {"unlike_windows",
     [](const Architecture& m) {
       std::set<std::int64_t> widths;
       for (const std::int64_t window : windows_of(m)) widths.insert(window);
       widths.erase(0);
       return widths.size() > 1;
     }},
    {"window_rotary", [](const Architecture& m) { return m.window_rotary_base != 0; }},
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
     [](const Architecture& m) {
       return m.gated && m.activation != Activation::kSilu && !is_quick(m.activation);
     }},
    {"ungated_silu",
     [](const Architecture& m) { return !m.gated && m.activation == Activation::kSilu; }},
    {"plain_gelu_tanh",
     [](const Architecture& m) {
       return !m.gated && m.activation == Activation::kGeluTanh && !has_bias(m);
     }},
    {"quick_gelu",
     [](const Architecture& m) { return !m.gated && m.activation == Activation::kQuickGelu; }},
    {"quick_geglu",
     [](const Architecture& m) { return m.gated && m.activation == Activation::kQuickGelu; }},
    {"clamped_swiglu",
     [](const Architecture& m) { return m.activation == Activation::kClampedSwiglu; }},
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
    {"unit_offset_norms", [](const Architecture& m) { return m.norm_unit_offset; }},
    {"other_norms", [](const Architecture& m) { return !m.norm_weight; }},
    {"plain_qk_norm", [](const Architecture& m) { return m.qk_norm == QkNorm::kPlain; }},
    {"wide_qk_norm",
     [](const Architecture& m) {
       const bool plain = m.qk_norm == QkNorm::kNone || m.qk_norm == QkNorm::kPlain;
       return (!plain && m.qk_norm != QkNorm::kHead) || m.qk_norm_bias;
     }},
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
    {"part_bias", [](const Architecture& m) { return biases_parts(m); }},
    {"sigmoid_routing",
     [](const Architecture& m) {
       return m.experts && m.experts->scoring == Scoring::kSigmoid && !m.experts->correction_bias;
     }},
    {"plain_sigmoid_routing",
     [](const Architecture& m) { return routes_by_sigmoids(m) && !m.experts->normalize_top_k; }},
    {"routing_groups", [](const Architecture& m) { return m.experts && m.experts->groups > 1; }},
    {"routing_scale", [](const Architecture& m) { return m.experts && m.experts->scale != 1; }},
    {"other_numbers",
     [](const Architecture& m) {
       return !m.beyond.empty() || m.gate_bias || m.activation == Activation::kXielu;
     }},
    {"delta_net", [](const Architecture& m) { return has_mixer(m, Mixer::kDeltaNet); }},
    {"mamba2", [](const Architecture& m) { return has_mixer(m, Mixer::kMamba2); }},
    {"mamba", [](const Architecture& m) { return has_mixer(m, Mixer::kMamba); }},
    {"short_convolution",
     [](const Architecture& m) { return has_mixer(m, Mixer::kShortConvolution); }},
    {"other_state_mixers", [](const Architecture& m) { return has_other_state_mixer(m); }},
    {"multi_token", [](const Architecture& m) { return m.predicted_ahead() > 0; }},
    {"branch_layers", [](const Architecture& m) { return any_layer(m, has_one_branch); }},
    {"mixed_branches",
     [](const Architecture& m) {
       return any_layer(m, has_one_branch) &&
              any_layer(m, [](const LayerClass& layer) { return !has_one_branch(layer); });
     }},
    {"mamba_with_mlp",
     [](const Architecture& m) {
       return any_layer(m, [](const LayerClass& layer) {
         return layer.has_mixer(Mixer::kMamba2) && !has_one_branch(layer);
       });
     }},
    {"unrotated_layers",
     [](const Architecture&
            m) { return any_layer(m, [](const LayerClass& layer) { return !layer.rotated; }); }},
    {"images", [](const Architecture& m) { return m.sees_images(); }},
    {"other_layers", [](const Architecture& m) {
       return any_layer(m, [](const LayerClass& layer) {
         return layer.chunked || layer.ffn != 0 || layer.norms.has_value() ||
                layer.beside != Mixer::kNone;
       });
     }}};

}  // namespace

StateMixer usual_mixer(Mixer kind, const StateMixer& sizes) {
  StateMixer mixer{.heads = sizes.heads,
                   .head_dim = sizes.head_dim,
                   .groups = sizes.groups,
                   .state = sizes.state,
                   .normed = true};
  if (kind == Mixer::kDeltaNet) {
    mixer.kernel = sizes.kernel;
  } else {
    mixer.chunk = 128;
    mixer.convolution_bias = true;
  }
  return mixer;
}

std::span<const ModelWord> model_words() { return kModelWords; }

}  // namespace stepwright
