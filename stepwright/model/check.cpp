#include "stepwright/model/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "stepwright/core/error.h"
#include "stepwright/model/layer_class_index.h"
#include "stepwright/model/parameters.h"

namespace stepwright::model {
namespace {

// Most parameters that a model may have: just below 2^62.
constexpr double kMostParameters = 4.6e18;

class Checker {
 public:
  Checker(const ModelArchitecture& model, const std::string& where,
          std::span<const ModelFieldName> names)
      : model_(model), where_(where), names_(names) {}

  void run() const {
    sizes();
    if (model_.latent) latent(*model_.latent);
    attention();
    switches();
    if (model_.experts) experts(*model_.experts);
    layers();
    if (model_.encoder) encoder(*model_.encoder);
    total();
  }

 private:
  [[nodiscard]] std::string_view name(std::string_view field) const {
    const auto* found = std::ranges::find(names_.data(), names_.data() + names_.size(), field,
                                          &ModelFieldName::field);
    return found == names_.data() + names_.size() ? field : found->name;
  }

  template <class Value>
  void rule(bool holds, std::string_view field, const Value& value,
            std::string_view allowed) const {
    if (holds) return;
    fail_input(
        fmt::format("{}: {}: {} is not allowed; allowed: {}", where_, name(field), value, allowed));
  }

  void size(std::string_view field, std::int64_t value, std::int64_t low,
            std::int64_t high = kMaxModelDimension) const {
    if (value >= low && value <= high) return;
    rule(false, field, value, fmt::format("{} to {}", low, high));
  }

  void width(std::string_view field, std::int64_t value, std::int64_t width_per_head) const {
    rule(value <= kMaxModelDimension / width_per_head, field, value,
         fmt::format("at most {} with {} elements per head", kMaxModelDimension / width_per_head,
                     width_per_head));
  }

  void sizes() const {
    size("layers", model_.layers, 1, kMaxModelLayers);
    size("hidden", model_.hidden, 1);
    size("heads", model_.heads, 1);
    size("kv_heads", model_.kv_heads, 1);
    size("head_dim", model_.head_dim, 1);
    size("ffn", model_.ffn, has_default_ffn_layer(model_) ? 1 : 0);
    size("vocab", model_.vocabulary, 1);
    size("first_position", model_.first_position, 0);
    size("positions", model_.positions,
         model_.position == PositionEncoding::kLearned ? model_.first_position + 1 : 0);
    size("multi_token_layers", model_.multi_token_layers, 0, kMaxModelLayers);
  }

  void latent(const LatentAttention& latent) const {
    size("latent.query_rank", latent.query_rank, 0);
    size("latent.kv_rank", latent.kv_rank, 1);
    size("latent.nope_head_dim", latent.nope_head_dim, 1);
    size("latent.rope_head_dim", latent.rope_head_dim, 1);
    size("latent.value_head_dim", latent.value_head_dim, 1);
    size("latent.index_heads", latent.index_heads, 0);
    size("latent.index_head_dim", latent.index_head_dim, 1);
    size("latent.index_top_k", latent.index_top_k, 1);
    rule(latent.index_heads == 0 || latent.query_rank > 0, "latent.index_heads", latent.index_heads,
         "0 without latent.query_rank, whose rows an indexer reads");
    width("latent.index_heads", latent.index_heads, latent.index_head_dim);
    rule(model_.head_dim == latent.nope_head_dim + latent.rope_head_dim, "head_dim",
         model_.head_dim, "latent.nope_head_dim + latent.rope_head_dim");
    rule(model_.kv_heads == model_.heads, "kv_heads", model_.kv_heads,
         fmt::format("heads ({}) with latent attention", model_.heads));
    rule(!model_.qkv_bias, "qkv_bias", true, "false with latent attention");
    rule(model_.qk_norm == QkNorm::kNone, "qk_norm", name_of(kQkNormNames, model_.qk_norm),
         "none with latent attention, which norms its own projections");
    rule(!model_.attention_gate, "attention_gate", true, "false with latent attention");
    rule(model_.rotary_fraction == 1, "rotary_fraction", model_.rotary_fraction,
         "1 with latent attention, which rotates latent.rope_head_dim");
    width("heads", model_.heads, latent.nope_head_dim + latent.value_head_dim);
  }

  void attention() const {
    rule(model_.heads % model_.kv_heads == 0, "kv_heads", model_.kv_heads,
         fmt::format("a divisor of {} ({})", name("heads"), model_.heads));
    width("heads", model_.heads, model_.head_dim);
    width("heads", model_.heads, model_.value_head_elements());
    rule(model_.rotary_fraction > 0 && model_.rotary_fraction <= 1, "rotary_fraction",
         model_.rotary_fraction, "above 0, at most 1");
    if (model_.position != PositionEncoding::kRope) return;
    rotary();
    const double of =
        static_cast<double>(model_.latent ? model_.latent->rope_head_dim : model_.head_dim);
    const double rotated = std::floor(of * model_.rotary_fraction);
    rule(rotated >= 2 && std::fmod(rotated, 2) == 0,
         model_.latent ? "latent.rope_head_dim" : "head_dim", of,
         fmt::format("an even number of rotated elements (here {:.0f})", rotated));
  }

  void rotary() const {
    rule(model_.rotary_base > 1, "rotary_base", model_.rotary_base, "above 1");
    if (!model_.rotary_scaling) return;
    const RotaryScaling& scaling = *model_.rotary_scaling;
    rule(scaling.factor >= 1, "rotary_scaling.factor", scaling.factor, "at least 1");
    const bool by_number = scaling.kind == RotaryScalingKind::kYarn;
    const double low = scaling.low_frequency;
    rule(low < scaling.high_frequency || (by_number && low > 0 && low == scaling.high_frequency),
         "rotary_scaling.high_frequency", scaling.high_frequency,
         fmt::format("above rotary_scaling.low_frequency ({})", low));
    rule(!by_number || low > 0, "rotary_scaling.low_frequency", low, "above 0");
    size("rotary_scaling.original_positions", scaling.original_positions, 1);
    factors("rotary_scaling.short_factors", scaling.short_factors);
    factors("rotary_scaling.long_factors", scaling.long_factors);
  }

  void factors(std::string_view field, const std::vector<double>& list) const {
    const auto pairs = static_cast<std::size_t>(model_.rotated_pairs_per_head());
    rule(list.empty() || list.size() == pairs, field, list.size(),
         fmt::format("none, or one for each of the {} pairs", pairs));
    for (const double factor : list) rule(factor > 0, field, factor, "above 0");
  }

  void switches() const {
    rule(model_.norm_epsilon >= 0 && model_.norm_epsilon < 1, "norm_epsilon", model_.norm_epsilon,
         "at least 0, below 1");
    rule(!model_.norm_bias || model_.norm == Norm::kLayer, "norm_bias", true,
         "false with norm: rmsnorm");
    rule(!model_.gate_bias || model_.attention_gate, "gate_bias", true,
         "false without attention_gate");
    rule(model_.activation != ActivationFunction::kXielu || (!model_.gated && !model_.experts),
         "activation", "xielu", "another where gated or with experts");
    rule(!model_.shared_input_norm || model_.parallel_residual, "shared_input_norm", true,
         "false without parallel_residual");
    rule(model_.dropout >= 0 && model_.dropout < 1, "dropout", model_.dropout,
         "at least 0, below 1");
  }

  void experts(const MixtureOfExperts& experts) const {
    size("experts.count", experts.count, 1);
    size("experts.top_k", experts.top_k, 1, experts.count);
    size("experts.ffn", experts.ffn, 1);
    size("experts.shared_ffn", experts.shared_ffn, 0);
    size("experts.latent", experts.latent, 0);
    rule(!experts.shared_gate || experts.shared_ffn > 0, "experts.shared_gate", true,
         "false without experts.shared_ffn");
    size("experts.groups", experts.groups, 1, experts.count);
    rule(experts.count % experts.groups == 0, "experts.groups", experts.groups,
         fmt::format("a divisor of {} ({})", name("experts.count"), experts.count));
    size("experts.top_groups", experts.top_groups, 1, experts.groups);
    const std::int64_t open = experts.count / experts.groups * experts.top_groups;
    rule(
        experts.top_k <= open, "experts.top_k", experts.top_k,
        fmt::format("at most the {} experts of experts.top_groups ({})", open, experts.top_groups));
    rule(!model_.mlp_bias || model_has_feed_forward_kind(model_, FeedForward::kDense), "mlp_bias",
         true, "false where every layer has experts, whose biases are experts.bias");
    rule(!experts.router_bias || !experts.correction_bias, "experts.router_bias", true,
         "false with experts.correction_bias");
  }

  void layers() const {
    if (model_.pattern.empty()) return;
    const bool mixed = model_has_feed_forward_kind(model_, FeedForward::kExperts);
    per_layer(mixed ? "experts.dense_layers" : "layers", model_.pattern.size());
    rule(!model_.experts || mixed, "experts.dense_layers", model_.layers,
         "at least one layer with experts");
    rule(model_.experts || !mixed, "layers.feed_forward", "experts",
         "dense or none in a model without experts");
    for (const LayerClass& layer : model_.pattern) one_layer(layer);
    if (has_recurrent_mixer(model_)) state_mixer();
  }

  void one_layer(const LayerClass& layer) const {
    size("window", layer.window, 0);
    size("layers.ffn", layer.ffn, 0);
    rule(layer.window == 0 || layer.attends(), "window", layer.window,
         "0 in a layer that does not attend");
    rule(layer.beside == TokenMixer::kNone ||
             (layer.attends() && layer.beside != TokenMixer::kAttention),
         "layers.beside", name_of(kMixerNames, layer.beside),
         "none, or beside attention one that carries a state");
    rule(!layer.chunked || layer.window > 0, "layers.chunked", true, "false without a window");
    rule(layer.mixer != TokenMixer::kNone || layer.feed_forward != FeedForward::kNone,
         "layers.mixer", "none", "another where feed_forward is none");
  }

  void state_mixer() const {
    rule(model_.state_mixer.has_value(), "state_mixer", "none",
         "sizes of the layers that carry a state");
    const RecurrentMixer& mixer = *model_.state_mixer;
    size("state_mixer.heads", mixer.heads, 1);
    size("state_mixer.head_dim", mixer.head_dim, 1);
    size("state_mixer.groups", mixer.groups, 1);
    size("state_mixer.state", mixer.state,
         model_.state_mixer && model_has_mixer_kind(model_, TokenMixer::kShortConvolution) ? 0 : 1);
    size("state_mixer.kernel", mixer.kernel, 1, 64);
    size("state_mixer.chunk", mixer.chunk, 1);
    rule(mixer.heads % mixer.groups == 0, "state_mixer.groups", mixer.groups,
         fmt::format("a divisor of state_mixer.heads ({})", mixer.heads));
    width("state_mixer.heads", mixer.heads, mixer.head_dim);
    width("state_mixer.groups", mixer.groups, std::max<std::int64_t>(1, mixer.state));
  }

  void encoder(const ImageEncoder& encoder) const {
    if (encoder.layers == 0) return;
    size("encoder.hidden", encoder.hidden, 1);
    size("encoder.ffn", encoder.ffn, 1);
    rule(encoder.hidden % encoder.heads == 0, "encoder.heads", encoder.heads,
         fmt::format("a divisor of encoder.hidden ({})", encoder.hidden));
  }

  void per_layer(std::string_view field, std::size_t entries) const {
    rule(entries == static_cast<std::size_t>(model_.layers), field,
         fmt::format("a list of {}", entries),
         fmt::format("one entry per layer ({})", model_.layers));
  }

  static double elements(const std::vector<ModelParameter>& list) {
    double sum = 0;
    for (const ModelParameter& parameter : list) {
      sum += static_cast<double>(parameter.rows) * static_cast<double>(parameter.columns) *
             static_cast<double>(parameter.copies);
    }
    return sum;
  }

  void total() const {
    double sum = elements(embedding_parameters(model_)) + elements(head_parameters(model_)) +
                 elements(encoder_parameters(model_));
    for (const auto& [layer, layers] : model_.layer_counts_by_class()) {
      sum += static_cast<double>(layers) * elements(layer_parameters(model_, layer));
    }
    sum += static_cast<double>(model_.multi_token_layers) *
           elements(multi_token_module_parameters(model_));
    rule(sum < kMostParameters, "parameters", fmt::format("{:.3g}", sum),
         fmt::format("fewer than {:.3g} in all", kMostParameters));
  }

  const ModelArchitecture& model_;
  const std::string& where_;
  std::span<const ModelFieldName> names_;
};

}  // namespace

void check_model_sizes(const ModelArchitecture& model, const std::string& where) {
  check_model_sizes(model, where, {});
}

void check_model_sizes(const ModelArchitecture& model, const std::string& where,
                       std::span<const ModelFieldName> names) {
  Checker(model, where, names).run();
}

}  // namespace stepwright::model
