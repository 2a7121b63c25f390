#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "stepwright/model/architecture.h"
#include "stepwright/model/layer_class_index.h"

namespace stepwright::model {

/// Generates legal random architectures of every kind; the same seed gives the same ones on every
/// machine.
class RandomArchitecture {
 public:
  explicit RandomArchitecture(std::uint64_t seed) : random_(seed) {}

  ModelArchitecture make() {
    ModelArchitecture model;
    model.name = "random " + std::to_string(random_() % 1000);
    sizes(model);
    switches(model);
    if (maybe(3)) use_latent(model);
    if (maybe(2)) use_experts(model);
    if (maybe(2)) use_windows(model);
    if (maybe(3)) use_mixers(model);
    const bool has_dense = model_has_feed_forward_kind(model, FeedForward::kDense);
    model.mlp_bias = has_dense && maybe(2);
    if (!has_default_ffn_layer(model) && maybe(2)) model.ffn = 0;
    model.multi_token_layers = maybe(3) ? number(1, 3) : 0;
    model.count_multi_token = maybe(2);
    if (maybe(3)) model.multi_token_weight = 0.3;
    fill_factors(model);
    return model;
  }

 private:
  bool maybe(std::uint64_t one_in) { return random_() % one_in == 0; }

  std::int64_t number(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(high - low + 1));
  }

  void sizes(ModelArchitecture& model) {
    model.layers = number(1, 12);
    model.hidden = number(1, 5000);
    model.kv_heads = number(1, 9);
    model.heads = model.kv_heads * number(1, 8);
    model.head_dim = 8 * number(1, 32);
    model.ffn = number(1, 20000);
    model.vocabulary = number(1, 300000);
    model.positions = number(0, 9000);
  }

  void switches(ModelArchitecture& model) {
    model.gated = maybe(2);
    model.activation = static_cast<ActivationFunction>(random_() % 6);
    model.norm = static_cast<Norm>(random_() % 2);
    model.norm_bias = model.norm == Norm::kLayer && maybe(2);
    model.position = static_cast<PositionEncoding>(random_() % 5);
    model.first_position = maybe(4) ? 2 : 0;
    if (model.position == PositionEncoding::kLearned) model.positions += 1 + model.first_position;
    model.rotary_fraction = maybe(2) ? 1 : static_cast<double>(number(1, 4)) / 4;
    model.qkv_bias = maybe(2);
    model.attention_output_bias = maybe(2);
    model.head_bias = maybe(2);
    model.qk_norm = static_cast<QkNorm>(random_() % 5);
    model.qk_norm_bias = maybe(4);
    model.norm_placement = static_cast<NormPlacement>(random_() % 3);
    model.norm_weight = !maybe(4);
    model.norm_unit_offset = maybe(4);
    model.attention_gate = maybe(4);
    model.gate_bias = model.attention_gate && maybe(2);
    if (maybe(8)) model.beyond = "other numbers";
    if (maybe(8)) model.encoder = ImageEncoder{"tower", number(1, 5000), number(0, 99), 4, 1, 1e9};
    model.sinks = maybe(4);
    if (maybe(3)) numbers(model);
    model.embedding_norm = maybe(2);
    model.parallel_residual = maybe(2);
    model.shared_input_norm = model.parallel_residual && maybe(2);
    model.tied = maybe(2);
    model.norm_epsilon = maybe(2) ? 1e-5 : 1e-6;
    model.inner_norm_epsilon = maybe(4) ? 1e-4 : 0;
    model.rotary_base = maybe(2) ? 10000 : static_cast<double>(number(2, 2'000'000));
    if (maybe(3)) model.rotary_scaling = scaling();
    model.window_rotary_base = maybe(3) ? 5000 : 0;
    model.dropout = maybe(2) ? 0 : static_cast<double>(number(0, 9)) / 10;
  }

  void numbers(ModelArchitecture& model) {
    model.attention_scale = static_cast<double>(number(0, 4)) / 16;
    model.attention_cap = static_cast<double>(number(0, 50));
    model.logit_cap = static_cast<double>(number(0, 30));
    model.logit_scale = static_cast<double>(number(1, 16)) / 16;
    model.embedding_scale = static_cast<double>(number(1, 64));
    model.residual_scale = static_cast<double>(number(1, 16)) / 16;
  }

  RotaryScaling scaling() {
    RotaryScaling scaling{.kind = static_cast<RotaryScalingKind>(random_() % 6),
                          .factor = static_cast<double>(number(2, 80)) / 2};
    const bool yarn = scaling.kind == RotaryScalingKind::kYarn;
    const bool lists = scaling.kind == RotaryScalingKind::kLongRope;
    if (!yarn && !lists && scaling.kind != RotaryScalingKind::kLlama3) return scaling;
    scaling.original_positions = number(1, 9000);
    if (yarn || lists) scaling.attention_factor = static_cast<double>(number(0, 4)) / 2;
    if (lists) return scaling;
    scaling.low_frequency = static_cast<double>(number(1, 8)) / 4;
    scaling.high_frequency = scaling.low_frequency + 1.5;
    if (!yarn) return scaling;
    scaling.rounded = !maybe(4);
    scaling.mscale_all_dim = static_cast<double>(number(0, 2)) / 2;
    if (scaling.mscale_all_dim > 0) scaling.mscale = static_cast<double>(number(1, 3)) / 2;
    return scaling;
  }

  /// Fills the lists of `longrope`; their length follows from the final number of heads.
  void fill_factors(ModelArchitecture& model) {
    if (!model.rotary_scaling || model.rotary_scaling->kind != RotaryScalingKind::kLongRope) return;
    for (std::int64_t i = 0; i < model.rotated_pairs_per_head(); ++i) {
      model.rotary_scaling->short_factors.push_back(static_cast<double>(number(1, 9)) / 4);
      model.rotary_scaling->long_factors.push_back(static_cast<double>(number(1, 99)) / 4);
    }
  }

  void use_latent(ModelArchitecture& model) {
    model.latent = LatentAttention{.query_rank = maybe(3) ? 0 : number(1, 2000),
                                   .kv_rank = number(1, 1000),
                                   .nope_head_dim = number(1, 200),
                                   .rope_head_dim = 2 * number(1, 64),
                                   .value_head_dim = number(1, 200)};
    model.head_dim = model.latent->nope_head_dim + model.latent->rope_head_dim;
    model.kv_heads = model.heads;
    model.qkv_bias = model.attention_gate = model.gate_bias = false;
    if (model.latent->query_rank > 0 && maybe(3)) {
      model.latent->index_heads = number(1, 64);
      model.latent->index_top_k = number(1, 4096);
    }
    model.qk_norm = QkNorm::kNone;
    model.rotary_fraction = 1;
  }

  void use_experts(ModelArchitecture& model) {
    MixtureOfExperts experts;
    experts.count = number(1, 300);
    experts.top_k = number(1, experts.count);
    experts.ffn = number(1, 5000);
    experts.shared_ffn = maybe(2) ? 0 : number(1, 5000);
    if (experts.ffn % 4 == 0) experts.latent = experts.ffn / 4;
    experts.shared_gate = experts.shared_ffn > 0 && maybe(2);
    experts.correction_bias = maybe(2);
    experts.normalize_top_k = maybe(2);
    experts.bias = maybe(3);
    experts.router_bias = !experts.correction_bias && maybe(3);
    experts.scoring = static_cast<RouterScoring>(random_() % 2);
    if (experts.count % 2 == 0) experts.groups = 2;
    experts.top_groups = number(1, experts.groups);
    const std::int64_t open = experts.count / experts.groups * experts.top_groups;
    if (experts.top_k > open) experts.top_groups = experts.groups;
    model.experts = experts;
    if (model.layers < 2 || maybe(2)) return;
    std::vector<std::uint8_t> is_dense;
    for (std::int64_t i = 0; i < model.layers; ++i) is_dense.push_back(maybe(2) ? 1 : 0);
    is_dense.front() = 1;
    is_dense.back() = 0;
    assign_dense_mlp_layers(model, is_dense);
  }

  /// Replaces layers in the middle of the model by other kinds; the first and last layers stay.
  void use_mixers(ModelArchitecture& model) {
    model.state_mixer = RecurrentMixer{.heads = 4 * number(1, 32),
                                       .head_dim = number(1, 64),
                                       .groups = 2 * number(1, 2),
                                       .state = number(1, 128),
                                       .kernel = number(2, 4),
                                       .step_rank = number(1, 64),
                                       .convolution_bias = maybe(2),
                                       .bias = maybe(2),
                                       .normed = maybe(2),
                                       .selection_normed = maybe(3)};
    std::vector<LayerClass> layers = model_layer_classes(model);
    for (std::size_t i = 1; i + 1 < layers.size(); ++i) {
      LayerClass& layer = layers[i];
      layer.mixer = static_cast<TokenMixer>(random_() % 6);
      if (layer.mixer != TokenMixer::kAttention) layer.window = 0;
      if (layer.attends() && maybe(3)) layer.beside = TokenMixer::kMamba2;
      if (maybe(4)) layer.norms = static_cast<NormPlacement>(random_() % 3);
      if (layer.mixer != TokenMixer::kNone && maybe(4)) layer.feed_forward = FeedForward::kNone;
      layer.chunked = layer.window > 0 && maybe(2);
      layer.rotated = !layer.attends() || maybe(2);
      layer.ffn = layer.feed_forward == FeedForward::kDense && maybe(2) ? number(1, 5000) : 0;
    }
    set_layer_class_pattern(model, layers);
    if (!has_recurrent_mixer(model)) model.state_mixer.reset();
  }

  void use_windows(ModelArchitecture& model) {
    const std::int64_t common = number(1, 9000);
    const bool mixed = maybe(3);
    std::vector<std::int64_t> windows;
    for (std::int64_t i = 0; i < model.layers; ++i) {
      windows.push_back(mixed ? number(0, 3) : maybe(3) ? 0 : common);
    }
    windows.front() = common;
    set_layer_attention_windows(model, windows);
  }

  std::mt19937_64 random_;
};

}  // namespace stepwright::model
