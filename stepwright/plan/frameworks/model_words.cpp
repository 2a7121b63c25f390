#include "stepwright/plan/frameworks/model_words.h"

#include <algorithm>
#include <set>

#include "stepwright/model/layer_class_index.h"

namespace stepwright::plan {
namespace {

template <class Holds>
bool any_layer(const model::ModelArchitecture& model, Holds holds) {
  if (model.pattern.empty()) return holds(model.default_layer_class());
  return std::ranges::any_of(model.pattern, holds);
}

/// True if linear layers other than queries, keys and values have biases.
bool has_bias(const model::ModelArchitecture& model) {
  return model.mlp_bias || model.attention_output_bias || (model.experts && model.experts->bias);
}

bool is_quick(model::ActivationFunction activation) {
  return activation == model::ActivationFunction::kQuickGelu ||
         activation == model::ActivationFunction::kClampedSwiglu;
}

bool routes_by_sigmoids(const model::ModelArchitecture& model) {
  return model.experts && (model.experts->scoring == model::RouterScoring::kSigmoid ||
                           model.experts->correction_bias);
}

/// True if biases are on some projections other than exactly queries, keys and values. A router
/// whose choice is corrected by a bias has no other bias.
bool biases_parts(const model::ModelArchitecture& model) {
  std::set<bool> others;
  if (model::model_has_mixer_kind(model, model::TokenMixer::kAttention))
    others.insert(model.attention_output_bias);
  if (model::model_has_feed_forward_kind(model, model::FeedForward::kDense))
    others.insert(model.mlp_bias);
  if (model.experts) {
    others.insert(model.experts->bias);
    if (!model.experts->correction_bias) others.insert(model.experts->router_bias);
  }
  if (others.size() > 1) return true;
  const bool all = others.contains(true);
  return all && !model.qkv_bias && !model.latent &&
         model::model_has_mixer_kind(model, model::TokenMixer::kAttention);
}

bool has_other_state_mixer(const model::ModelArchitecture& model) {
  if (!model.state_mixer) return false;
  for (const model::TokenMixer kind : {model::TokenMixer::kDeltaNet, model::TokenMixer::kMamba2}) {
    if (model::model_has_mixer_kind(model, kind) &&
        *model.state_mixer != megatron_recurrent_mixer(kind, *model.state_mixer)) {
      return true;
    }
  }
  return false;
}

constexpr ModelFeatureWord kModelWords[] = {
    {"experts", [](const model::ModelArchitecture& m) { return m.experts.has_value(); }},
    {"shared_experts", [](const model::ModelArchitecture& m) { return m.has_shared_experts(); }},
    {"latent_experts", [](const model::ModelArchitecture& m) { return m.experts && m.experts->latent > 0; }},
    {"dense_layers",
     [](const model::ModelArchitecture& m) { return m.experts && !model::dense_layer_flags(m).empty(); }},
    {"biased_routing",
     [](const model::ModelArchitecture& m) { return m.experts && m.experts->correction_bias; }},
    {"plain_routing",
     [](const model::ModelArchitecture& m) {
       return m.experts && !m.experts->normalize_top_k && !routes_by_sigmoids(m);
     }},
    {"latent_attention", [](const model::ModelArchitecture& m) { return m.latent.has_value(); }},
    {"indexers", [](const model::ModelArchitecture& m) { return m.has_sparse_attention_indexer(); }},
    {"windows", [](const model::ModelArchitecture& m) { return !model::attention_windows_of_layers(m).empty(); }},
    {"mixed_windows",
     [](const model::ModelArchitecture& m) {
       const std::vector<std::int64_t> windows = model::attention_windows_of_layers(m);
       return !windows.empty() &&
              std::ranges::count(windows, windows.front()) != std::ssize(windows);
     }},
    {"unlike_windows",
     [](const model::ModelArchitecture& m) {
       std::set<std::int64_t> widths;
       for (const std::int64_t window : model::attention_windows_of_layers(m)) widths.insert(window);
       widths.erase(0);
       return widths.size() > 1;
     }},
    {"window_rotary", [](const model::ModelArchitecture& m) { return m.window_rotary_base != 0; }},
    {"layer_norm", [](const model::ModelArchitecture& m) { return m.norm == model::Norm::kLayer; }},
    {"embedding_norm", [](const model::ModelArchitecture& m) { return m.embedding_norm; }},
    {"parallel_residual", [](const model::ModelArchitecture& m) { return m.parallel_residual; }},
    {"qk_norm", [](const model::ModelArchitecture& m) { return m.qk_norm != model::QkNorm::kNone; }},
    {"qkv_bias", [](const model::ModelArchitecture& m) { return m.qkv_bias; }},
    {"bias", [](const model::ModelArchitecture& m) { return m.mlp_bias || m.attention_output_bias; }},
    {"head_bias", [](const model::ModelArchitecture& m) { return m.head_bias; }},
    {"tied", [](const model::ModelArchitecture& m) { return m.tied; }},
    {"ungated", [](const model::ModelArchitecture& m) { return !m.gated; }},
    {"gated_gelu",
     [](const model::ModelArchitecture& m) {
       return m.gated && m.activation != model::ActivationFunction::kSilu && !is_quick(m.activation);
     }},
    {"ungated_silu",
     [](const model::ModelArchitecture& m) { return !m.gated && m.activation == model::ActivationFunction::kSilu; }},
    {"plain_gelu_tanh",
     [](const model::ModelArchitecture& m) {
       return !m.gated && m.activation == model::ActivationFunction::kGeluTanh && !has_bias(m);
     }},
    {"quick_gelu",
     [](const model::ModelArchitecture& m) { return !m.gated && m.activation == model::ActivationFunction::kQuickGelu; }},
    {"quick_geglu",
     [](const model::ModelArchitecture& m) { return m.gated && m.activation == model::ActivationFunction::kQuickGelu; }},
    {"clamped_swiglu",
     [](const model::ModelArchitecture& m) { return m.activation == model::ActivationFunction::kClampedSwiglu; }},
    {"relu", [](const model::ModelArchitecture& m) { return m.activation == model::ActivationFunction::kRelu; }},
    {"squared_relu",
     [](const model::ModelArchitecture& m) { return m.activation == model::ActivationFunction::kSquaredRelu; }},
    {"learned_positions", [](const model::ModelArchitecture& m) { return m.position == model::PositionEncoding::kLearned; }},
    {"alibi", [](const model::ModelArchitecture& m) { return m.position == model::PositionEncoding::kAlibi; }},
    {"no_positions", [](const model::ModelArchitecture& m) { return m.position == model::PositionEncoding::kNone; }},
    {"partial_rotary", [](const model::ModelArchitecture& m) { return m.rotary_fraction != 1; }},
    {"rotary_factor",
     [](const model::ModelArchitecture& m) {
       return m.rotary_scaling && m.rotary_scaling->kind == model::RotaryScalingKind::kLlama3 &&
              m.rotary_scaling->factor != 8;
     }},
    {"scaled_rotary",
     [](const model::ModelArchitecture& m) {
       return m.rotary_scaling && m.rotary_scaling->kind != model::RotaryScalingKind::kLlama3;
     }},
    {"dropout", [](const model::ModelArchitecture& m) { return m.dropout != 0; }},
    {"sinusoidal_positions",
     [](const model::ModelArchitecture& m) { return m.position == model::PositionEncoding::kSinusoidal; }},
    {"result_norms",
     [](const model::ModelArchitecture& m) {
       return any_layer(m, [&](const model::LayerClass& layer) { return m.norms_results(layer); });
     }},
    {"unit_offset_norms", [](const model::ModelArchitecture& m) { return m.norm_unit_offset; }},
    {"other_norms", [](const model::ModelArchitecture& m) { return !m.norm_weight; }},
    {"plain_qk_norm", [](const model::ModelArchitecture& m) { return m.qk_norm == model::QkNorm::kPlain; }},
    {"wide_qk_norm",
     [](const model::ModelArchitecture& m) {
       const bool plain = m.qk_norm == model::QkNorm::kNone || m.qk_norm == model::QkNorm::kPlain;
       return (!plain && m.qk_norm != model::QkNorm::kHead) || m.qk_norm_bias;
     }},
    {"attention_gate", [](const model::ModelArchitecture& m) { return m.attention_gate; }},
    {"sinks", [](const model::ModelArchitecture& m) { return m.sinks; }},
    {"scales",
     [](const model::ModelArchitecture& m) {
       return m.attention_scale != 0 || m.attention_cap != 0 || m.logit_cap != 0 ||
              m.logit_scale != 1 || m.embedding_scale != 1 || m.residual_scale != 1;
     }},
    {"expert_bias",
     [](const model::ModelArchitecture& m) {
       return m.experts && (m.experts->bias || m.experts->router_bias);
     }},
    {"part_bias", [](const model::ModelArchitecture& m) { return biases_parts(m); }},
    {"sigmoid_routing",
     [](const model::ModelArchitecture& m) {
       return m.experts && m.experts->scoring == model::RouterScoring::kSigmoid && !m.experts->correction_bias;
     }},
    {"plain_sigmoid_routing",
     [](const model::ModelArchitecture& m) { return routes_by_sigmoids(m) && !m.experts->normalize_top_k; }},
    {"routing_groups", [](const model::ModelArchitecture& m) { return m.experts && m.experts->groups > 1; }},
    {"routing_scale", [](const model::ModelArchitecture& m) { return m.experts && m.experts->scale != 1; }},
    {"other_numbers",
     [](const model::ModelArchitecture& m) {
       return !m.beyond.empty() || m.gate_bias || m.activation == model::ActivationFunction::kXielu;
     }},
    {"delta_net", [](const model::ModelArchitecture& m) { return model::model_has_mixer_kind(m, model::TokenMixer::kDeltaNet); }},
    {"mamba2", [](const model::ModelArchitecture& m) { return model::model_has_mixer_kind(m, model::TokenMixer::kMamba2); }},
    {"mamba", [](const model::ModelArchitecture& m) { return model::model_has_mixer_kind(m, model::TokenMixer::kMamba); }},
    {"short_convolution",
     [](const model::ModelArchitecture& m) { return model::model_has_mixer_kind(m, model::TokenMixer::kShortConvolution); }},
    {"other_state_mixers", [](const model::ModelArchitecture& m) { return has_other_state_mixer(m); }},
    {"multi_token", [](const model::ModelArchitecture& m) { return m.extra_predicted_tokens() > 0; }},
    {"branch_layers", [](const model::ModelArchitecture& m) { return any_layer(m, model::layer_has_one_branch); }},
    {"mixed_branches",
     [](const model::ModelArchitecture& m) {
       return any_layer(m, model::layer_has_one_branch) &&
              any_layer(m, [](const model::LayerClass& layer) { return !model::layer_has_one_branch(layer); });
     }},
    {"mamba_with_mlp",
     [](const model::ModelArchitecture& m) {
       return any_layer(m, [](const model::LayerClass& layer) {
         return layer.has_mixer(model::TokenMixer::kMamba2) && !model::layer_has_one_branch(layer);
       });
     }},
    {"unrotated_layers",
     [](const model::ModelArchitecture&
            m) { return any_layer(m, [](const model::LayerClass& layer) { return !layer.rotated; }); }},
    {"images", [](const model::ModelArchitecture& m) { return m.encodes_images(); }},
    {"other_layers", [](const model::ModelArchitecture& m) {
       return any_layer(m, [](const model::LayerClass& layer) {
         return layer.chunked || layer.ffn != 0 || layer.norms.has_value() ||
                layer.beside != model::TokenMixer::kNone;
       });
     }}};

}  // namespace

model::RecurrentMixer megatron_recurrent_mixer(model::TokenMixer kind,
                                               const model::RecurrentMixer& sizes) {
  model::RecurrentMixer mixer{.heads = sizes.heads,
                              .head_dim = sizes.head_dim,
                              .groups = sizes.groups,
                              .state = sizes.state,
                              .normed = true};
  if (kind == model::TokenMixer::kDeltaNet) {
    mixer.kernel = sizes.kernel;
  } else {
    mixer.chunk = 128;
    mixer.convolution_bias = true;
  }
  return mixer;
}

std::span<const ModelFeatureWord> model_words() { return kModelWords; }

}  // namespace stepwright::plan
