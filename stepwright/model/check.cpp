#include "stepwright/model/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "stepwright/core/error.h"
#include "stepwright/model/parameters.h"

namespace stepwright {
namespace {

constexpr double kMostParameters = 4.6e18;  // Below 2^62.

class Checker {
 public:
  Checker(const Architecture& model, const std::string& where, std::span<const FieldName> names)
      : model_(model), where_(where), names_(names) {}

  void run() const {
    sizes();
    if (model_.latent) latent(*model_.latent);
    attention();
    switches();
    if (model_.experts) experts(*model_.experts);
    windows();
    total();
  }

 private:
  [[nodiscard]] std::string_view name(std::string_view field) const {
    const auto* found =
        std::ranges::find(names_.data(), names_.data() + names_.size(), field, &FieldName::field);
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
            std::int64_t high = kLargestSize) const {
    if (value >= low && value <= high) return;
    rule(false, field, value, fmt::format("{} to {}", low, high));
  }

  void width(std::string_view field, std::int64_t value, std::int64_t width_per_head) const {
    rule(value <= kLargestSize / width_per_head, field, value,
         fmt::format("at most {} with {} elements per head", kLargestSize / width_per_head,
                     width_per_head));
  }

  [[nodiscard]] bool every_layer_has_experts() const {
    return model_.experts && model_.experts->is_dense.empty();
  }

  void sizes() const {
    size("layers", model_.layers, 1, kLargestLayers);
    size("hidden", model_.hidden, 1);
    size("heads", model_.heads, 1);
    size("kv_heads", model_.kv_heads, 1);
    size("head_dim", model_.head_dim, 1);
    size("ffn", model_.ffn, every_layer_has_experts() ? 0 : 1);
    size("vocab", model_.vocabulary, 1);
    size("positions", model_.positions, model_.position == Position::kLearned ? 1 : 0);
    size("multi_token_layers", model_.multi_token_layers, 0, kLargestLayers);
  }

  void latent(const LatentAttention& latent) const {
    size("latent.query_rank", latent.query_rank, 0);
    size("latent.kv_rank", latent.kv_rank, 1);
    size("latent.nope_head_dim", latent.nope_head_dim, 1);
    size("latent.rope_head_dim", latent.rope_head_dim, 1);
    size("latent.value_head_dim", latent.value_head_dim, 1);
    rule(model_.head_dim == latent.nope_head_dim + latent.rope_head_dim, "head_dim",
         model_.head_dim, "latent.nope_head_dim + latent.rope_head_dim");
    rule(model_.kv_heads == model_.heads, "kv_heads", model_.kv_heads,
         fmt::format("heads ({}) with latent attention", model_.heads));
    rule(!model_.qkv_bias, "qkv_bias", true, "false with latent attention");
    rule(!model_.qk_norm, "qk_norm", true,
         "false with latent attention, which norms its own projections");
    rule(model_.rotary_fraction == 1, "rotary_fraction", model_.rotary_fraction,
         "1 with latent attention, which rotates latent.rope_head_dim");
    width("heads", model_.heads, latent.nope_head_dim + latent.value_head_dim);
  }

  void attention() const {
    rule(model_.heads % model_.kv_heads == 0, "kv_heads", model_.kv_heads,
         fmt::format("a divisor of {} ({})", name("heads"), model_.heads));
    width("heads", model_.heads, model_.head_dim);
    width("heads", model_.heads, model_.value_dim());
    rule(model_.rotary_fraction > 0 && model_.rotary_fraction <= 1, "rotary_fraction",
         model_.rotary_fraction, "above 0, at most 1");
    if (model_.position != Position::kRope) return;
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
    rule(scaling.low_frequency < scaling.high_frequency, "rotary_scaling.high_frequency",
         scaling.high_frequency,
         fmt::format("above rotary_scaling.low_frequency ({})", scaling.low_frequency));
    size("rotary_scaling.original_positions", scaling.original_positions, 1);
  }

  void switches() const {
    rule(model_.norm_epsilon >= 0 && model_.norm_epsilon < 1, "norm_epsilon", model_.norm_epsilon,
         "at least 0, below 1");
    rule(!model_.norm_bias || model_.norm == Norm::kLayer, "norm_bias", true,
         "false with norm: rmsnorm");
    rule(!model_.shared_input_norm || model_.parallel_residual, "shared_input_norm", true,
         "false without parallel_residual");
    rule(model_.dropout >= 0 && model_.dropout < 1, "dropout", model_.dropout,
         "at least 0, below 1");
  }

  void experts(const Experts& experts) const {
    size("experts.count", experts.count, 1);
    size("experts.top_k", experts.top_k, 1, experts.count);
    size("experts.ffn", experts.ffn, 1);
    size("experts.shared_ffn", experts.shared_ffn, 0);
    rule(!experts.shared_gate || experts.shared_ffn > 0, "experts.shared_gate", true,
         "false without experts.shared_ffn");
    rule(!model_.mlp_bias, "mlp_bias", true, "false with experts, which carry no bias");
    if (experts.is_dense.empty()) return;
    per_layer("experts.dense_layers", experts.is_dense.size());
    const auto dense = std::ranges::count(experts.is_dense, 1);
    const auto sparse = std::ranges::count(experts.is_dense, 0);
    rule(dense + sparse == model_.layers, "experts.dense_layers", dense, "marks of 0 or 1");
    rule(dense > 0, "experts.dense_layers", dense, "an empty list where no layer is dense");
    rule(sparse > 0, "experts.dense_layers", dense, "at least one layer with experts");
  }

  void windows() const {
    if (model_.windows.empty()) return;
    per_layer("window", model_.windows.size());
    for (const std::int64_t window : model_.windows) size("window", window, 0);
    rule(std::ranges::any_of(model_.windows, [](auto window) { return window > 0; }), "window", 0,
         "none where every layer sees the whole sequence");
  }

  void per_layer(std::string_view field, std::size_t entries) const {
    rule(entries == static_cast<std::size_t>(model_.layers), field,
         fmt::format("a list of {}", entries),
         fmt::format("one entry per layer ({})", model_.layers));
  }

  static double elements(const std::vector<Parameter>& list) {
    double sum = 0;
    for (const Parameter& parameter : list) {
      sum += static_cast<double>(parameter.rows) * static_cast<double>(parameter.columns) *
             static_cast<double>(parameter.copies);
    }
    return sum;
  }

  void total() const {
    double sum = elements(embedding_parameters(model_)) + elements(head_parameters(model_));
    for (const auto& [layer, layers] : model_.layer_classes()) {
      sum += static_cast<double>(layers) * elements(layer_parameters(model_, layer));
    }
    sum +=
        static_cast<double>(model_.multi_token_layers) * elements(multi_token_parameters(model_));
    rule(sum < kMostParameters, "parameters", fmt::format("{:.3g}", sum),
         fmt::format("fewer than {:.3g} in all", kMostParameters));
  }

  const Architecture& model_;
  const std::string& where_;
  std::span<const FieldName> names_;
};

}  // namespace

void check(const Architecture& model, const std::string& where) { check(model, where, {}); }

void check(const Architecture& model, const std::string& where, std::span<const FieldName> names) {
  Checker(model, where, names).run();
}

}  // namespace stepwright
