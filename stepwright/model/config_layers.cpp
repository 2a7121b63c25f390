#include "stepwright/model/config_layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "stepwright/core/utf8.h"
#include "stepwright/model/layer_order.h"

namespace stepwright {
namespace {

constexpr std::int64_t kQwenWindowLayers = 28;  // max_window_layers where a file has none.

/// The layers that `layer_types` calls sliding.
std::vector<std::uint8_t> listed(Node types, std::int64_t layers) {
  if (!types.is_sequence()) types.fail("must be a list of one word per layer, or null");
  if (types.size() != static_cast<std::size_t>(layers)) {
    types.fail(fmt::format("has {} entries; one per layer ({}) is wanted", types.size(), layers));
  }
  std::vector<std::uint8_t> slides(types.size());
  for (std::size_t i = 0; i < slides.size(); ++i) {
    const std::string type = types.at(i).text();
    slides[i] = type == "sliding_attention" ? 1 : 0;
    if (type == "sliding_attention" || type == "full_attention") continue;
    types.at(i).fail_unsupported(fmt::format(
        "the layer type '{}' (supported: full_attention, sliding_attention)", printable(type)));
  }
  return slides;
}

std::vector<std::uint8_t> by_rule(const ConfigFields& fields, WindowRule rule,
                                  std::int64_t layers) {
  const bool on = rule == WindowRule::kEveryLayer || fields.flag("use_sliding_window", false);
  std::vector<std::uint8_t> slides(static_cast<std::size_t>(layers), on ? 1 : 0);
  if (!on || rule == WindowRule::kEveryLayer || rule == WindowRule::kSwitched) return slides;
  const std::int64_t limit = fields.size_or("max_window_layers", kQwenWindowLayers, 0);
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const bool slide =
        rule == WindowRule::kFromLayer ? layer >= limit : layer % 2 == 0 && layer < limit;
    slides[static_cast<std::size_t>(layer)] = slide ? 1 : 0;
  }
  return slides;
}

/// `sliding_window`: `fallback` where it is absent, 0 where it is null.
std::int64_t window_of(const ConfigFields& fields, std::int64_t fallback) {
  const auto found = fields.find({"sliding_window"});
  if (!found) return fallback;
  return found->is_null() ? 0 : found->integer(0, kLargestSize);
}

std::int64_t expert_count(const ConfigFields& fields, std::int64_t fallback) {
  const auto first = fields.value("num_experts");
  const auto alias = fields.value("num_local_experts");
  const std::int64_t count =
      fields.size_or(first ? "num_experts" : "num_local_experts", fallback, 0);
  if (alias && alias->integer(0, kLargestSize) != count) {
    alias->fail(fmt::format("must equal num_experts ({})", count));
  }
  return count;
}

}  // namespace

void read_windows(const ConfigFields& fields, WindowRule rule, std::int64_t fallback,
                  Architecture& model) {
  const std::vector<std::uint8_t> marks = by_rule(fields, rule, model.layers);
  read_windows(
      fields, [&](std::int64_t layer) { return marks[static_cast<std::size_t>(layer)] != 0; },
      fallback, model);
}

std::function<bool(std::int64_t)> all_but_last_of(std::int64_t every) {
  return [every](std::int64_t layer) { return (layer + 1) % every != 0; };
}

void rotate_windows_alone(Architecture& model) {
  if (windows_of(model).empty()) return;
  mark_rotated_layers(model,
                      [](const LayerClass& layer, std::int64_t) { return layer.window > 0; });
}

void mark_rotated_layers(Architecture& model,
                         const std::function<bool(const LayerClass&, std::int64_t)>& rotated) {
  std::vector<LayerClass> layers = layers_of(model);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    layers[i].rotated = rotated(layers[i], static_cast<std::int64_t>(i));
  }
  set_layers(model, std::move(layers));
}

void read_windows(const ConfigFields& fields, const std::function<bool(std::int64_t)>& rule,
                  std::int64_t fallback, Architecture& model) {
  const auto types = fields.value("layer_types");
  std::vector<std::uint8_t> slides;
  if (types) slides = listed(*types, model.layers);
  for (std::int64_t layer = 0; !types && layer < model.layers; ++layer) {
    slides.push_back(rule(layer) ? 1 : 0);
  }
  if (std::ranges::count(slides, 1) == 0) return;
  const std::int64_t window = window_of(fields, fallback);
  if (window == 0 && types) types->fail("has sliding layers, but there is no sliding_window");
  if (window == 0) return;
  std::vector<std::int64_t> windows;
  for (const std::uint8_t slide : slides) windows.push_back(slide != 0 ? window : 0);
  set_windows(model, windows);
}

void mark_dense_layers(Architecture& model, const std::function<bool(std::int64_t)>& is_dense) {
  std::vector<std::uint8_t> marks;
  for (std::int64_t layer = 0; layer < model.layers; ++layer) {
    marks.push_back(is_dense(layer) ? 1 : 0);
  }
  const auto dense = std::ranges::count(marks, 1);
  if (dense == model.layers) model.experts.reset();
  set_dense_layers(model, marks);
}

void read_qwen_experts(const ConfigFields& fields, Experts fallback, Architecture& model) {
  fallback.count = expert_count(fields, fallback.count);
  if (fallback.count == 0) return;
  fallback.top_k = fields.size_or("num_experts_per_tok", fallback.top_k);
  fallback.ffn = fields.size_or("moe_intermediate_size", fallback.ffn);
  fallback.normalize_top_k = fields.flag("norm_topk_prob", false);
  model.experts = fallback;
  const std::int64_t step = fields.size_or("decoder_sparse_step", 1);
  std::set<std::int64_t> dense;
  if (const auto list = fields.value("mlp_only_layers")) {
    for (std::size_t i = 0; i < list->size(); ++i) {
      dense.insert(list->at(i).integer(0, kLargestSize));
    }
  }
  mark_dense_layers(
      model, [&](std::int64_t layer) { return (layer + 1) % step != 0 || dense.contains(layer); });
}

}  // namespace stepwright
