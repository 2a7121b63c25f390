#include "stepwright/framework_files/megatron/mixers.h"

#include <fmt/format.h>

#include <algorithm>

#include "stepwright/framework_files/megatron/layer_lists.h"
#include "stepwright/model/layer_class_index.h"
#include "stepwright/model/layer_letters.h"
#include "stepwright/plan/frameworks/model_words.h"

namespace stepwright::framework_files {
namespace {

constexpr char kCut = '|';
constexpr char kMultiToken = '/';

std::optional<DocumentNode> pattern_node(const FrameworkSettingsReader& fields) {
  return fields.find("hybrid_layer_pattern");
}

/// Returns `hybrid_layer_pattern` without the part after "/", which describes multi-token
/// prediction layers.
std::string main_pattern(DocumentNode node) {
  const std::string text = node.text();
  return text.substr(0, text.find(kMultiToken));
}

std::string main_letters(DocumentNode node) {
  std::string letters = main_pattern(node);
  std::erase(letters, kCut);
  return letters;
}

/// Replaces letters `from` by `to` at even distances, the first one after `before` other letters.
void spread(std::string& letters, char from, char to, double before) {
  double left = before;
  for (char& letter : letters) {
    if (letter != from) continue;
    if (left < 0.5) {
      letter = to;
      left += before;
    } else {
      left -= 1;
    }
  }
}

/// Returns the letters for given shares of attention and MLP layers: pattern_from_ratios of
/// megatron/core/models/hybrid/hybrid_layer_allocation.py.
std::string pattern_of_shares(const FrameworkSettingsReader& fields, std::int64_t layers) {
  const auto count = [&](std::string_view key) {
    return std::nearbyint(static_cast<double>(layers) * fields.number(key, 0));
  };
  const double attention = count("hybrid_attention_ratio");
  const double mlps = count("hybrid_mlp_ratio");
  std::string letters(static_cast<std::size_t>(layers), 'M');
  spread(letters, 'M', '*', (static_cast<double>(layers) - attention) / (attention + 1));
  const double mambas = static_cast<double>(layers) - attention - mlps;
  if (mlps > 0) spread(letters, 'M', '-', mambas / mlps);
  return letters;
}

/// Returns one letter per layer of a hybrid model ("M-M*"), stated or derived from shares of
/// attention and MLP layers; nullopt for a GPT model.
std::optional<std::string> letters_of(const FrameworkSettingsReader& fields, std::int64_t layers) {
  if (const auto node = pattern_node(fields)) return main_letters(*node);
  const bool shares =
      fields.number("hybrid_attention_ratio", 0) > 0 || fields.number("hybrid_mlp_ratio", 0) > 0;
  if (!shares && !fields.flag("is_hybrid_model", false)) return std::nullopt;
  return pattern_of_shares(fields, layers);
}

model::RecurrentMixer read_mamba(const FrameworkSettingsReader& fields,
                                 const model::ModelArchitecture& model) {
  model::RecurrentMixer sizes;
  sizes.head_dim = fields.integer("mamba_head_dim", 64);
  sizes.state = fields.integer("mamba_state_dim", 128);
  sizes.groups = fields.integer("mamba_num_groups", 8);
  // If the heads are not stated, they are twice the model's width.
  sizes.heads = fields.integer("mamba_num_heads",
                               std::max<std::int64_t>(1, 2 * model.hidden / sizes.head_dim));
  return plan::megatron_recurrent_mixer(model::TokenMixer::kMamba2, sizes);
}

void add_mamba(DocumentTree& fields, const model::RecurrentMixer& mixer) {
  fields.set("mamba_num_heads", mixer.heads).set("mamba_head_dim", mixer.head_dim);
  fields.set("mamba_num_groups", mixer.groups).set("mamba_state_dim", mixer.state);
}

void read_hybrid(const FrameworkSettingsReader& fields, const std::string& letters,
                 model::ModelArchitecture& model, ImportReport& report) {
  fields.mark_setting_read("spec");
  model::set_layer_class_pattern(model, model::layers_from_hybrid_pattern(letters).value());
  if (model::model_has_mixer_kind(model, model::TokenMixer::kMamba2))
    model.state_mixer = read_mamba(fields, model);
  const auto node = pattern_node(fields);
  if (node && node->text().find(kMultiToken) != std::string::npos) {
    report.add_unmodelled_setting(*node, "the multi-token layers behind the pattern");
  }
}

model::RecurrentMixer read_delta_net(const FrameworkSettingsReader& fields) {
  model::RecurrentMixer sizes;
  sizes.heads = fields.integer("linear_num_value_heads", 32);
  sizes.head_dim = fields.integer("linear_value_head_dim", 128);
  sizes.groups = fields.integer("linear_num_key_heads", 16);
  sizes.state = fields.integer("linear_key_head_dim", 128);
  sizes.kernel = fields.integer("linear_conv_kernel_dim", 4);
  return plan::megatron_recurrent_mixer(model::TokenMixer::kDeltaNet, sizes);
}

void add_delta_nets(DocumentTree& fields, const model::ModelArchitecture& model) {
  const model::RecurrentMixer& mixer = *model.state_mixer;
  std::vector<std::uint8_t> marks;
  for (const model::LayerClass& layer : model::model_layer_classes(model)) {
    marks.push_back(layer.mixer == model::TokenMixer::kDeltaNet ? 1 : 0);
  }
  fields.set("experimental_attention_variant", "gated_delta_net");
  fields.set("linear_attention_freq", layer_flags_python_list(marks));
  fields.set("linear_num_value_heads", mixer.heads);
  fields.set("linear_value_head_dim", mixer.head_dim);
  fields.set("linear_num_key_heads", mixer.groups);
  fields.set("linear_key_head_dim", mixer.state);
  fields.set("linear_conv_kernel_dim", mixer.kernel);
}

void read_delta_nets(const FrameworkSettingsReader& fields, model::ModelArchitecture& model) {
  const std::string old = fields.word("linear_attention_type", "");
  if (fields.word("experimental_attention_variant", old) != "gated_delta_net") return;
  std::vector<model::LayerClass> layers = model::model_layer_classes(model);
  std::vector<std::uint8_t> attends(layers.size(), 0);
  if (const auto node = fields.find("linear_attention_freq")) {
    attends = layer_period_flags(*node, model.layers);
  }
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (attends[i] == 0) layers[i].mixer = model::TokenMixer::kDeltaNet;
  }
  model::set_layer_class_pattern(model, std::move(layers));
  if (model::model_has_mixer_kind(model, model::TokenMixer::kDeltaNet))
    model.state_mixer = read_delta_net(fields);
}

/// Adds the window's width and, unless all attention layers have it, the layers with a window.
void add_windows(DocumentTree& fields, const model::ModelArchitecture& model) {
  std::int64_t width = 0;
  for (const std::int64_t window : model::attention_windows_of_layers(model))
    width = std::max(width, window);
  if (width == 0) return;
  std::vector<std::uint8_t> marks;
  bool all = true;
  for (const model::LayerClass& layer : model::model_layer_classes(model)) {
    marks.push_back(layer.window > 0 ? 1 : 0);
    all = all && (layer.window > 0 || !layer.attends());
  }
  fields.set("window_size", fmt::format("{},0", width));
  if (!all) fields.set("window_attn_skip_freq", layer_flags_python_list(marks));
}

/// Returns the tokens before a token that its window includes, from "(127, 0)" or "127,0"; 0: none.
std::int64_t window_width(DocumentNode window) {
  const std::string text = window.is_sequence() ? window.at(0).text() : window.text();
  const YamlJsonDocument part = YamlJsonDocument::parse(
      "window_size: " + text.substr(text.starts_with('(') ? 1 : 0, text.find(',')), "window_size");
  return std::max<std::int64_t>(0, part.root().get("window_size").integer(-1, kMaxIntegerSetting));
}

void read_attention_windows(const FrameworkSettingsReader& fields,
                            model::ModelArchitecture& model) {
  const auto window = fields.find("window_size");
  const std::int64_t width = window ? window_width(*window) : 0;
  if (width == 0) return;
  std::vector<model::LayerClass> layers = model::model_layer_classes(model);
  std::vector<std::uint8_t> whole(layers.size(), 0);
  if (const auto pattern = fields.find("window_attn_skip_freq")) {
    whole = layer_period_flags(*pattern, model.layers);
  }
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (whole[i] == 0 && layers[i].attends()) layers[i].window = width;
  }
  model::set_layer_class_pattern(model, std::move(layers));
}

void add_unrotated(DocumentTree& fields, const model::ModelArchitecture& model) {
  std::vector<std::uint8_t> marks;
  for (const model::LayerClass& layer : model::model_layer_classes(model))
    marks.push_back(layer.rotated ? 0 : 1);
  if (std::ranges::count(marks, 1) > 0) fields.set("no_rope_freq", layer_flags_python_list(marks));
}

/// Removes rotary positions from the last layer of each period, or from layers with a 1 in a list.
void read_unrotated(const FrameworkSettingsReader& fields, model::ModelArchitecture& model) {
  const auto node = fields.find("no_rope_freq");
  if (!node) return;
  std::vector<std::uint8_t> kept(static_cast<std::size_t>(model.layers), 0);
  if (node->is_scalar()) {
    kept = layer_period_flags(*node, model.layers);
    for (std::uint8_t& layer : kept) layer = layer == 0 ? 1 : 0;
  } else {
    kept = flags_of_zero_entries(*node, model.layers);
  }
  std::vector<model::LayerClass> layers = model::model_layer_classes(model);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    layers[i].rotated = kept[i] != 0 || !layers[i].attends();
  }
  model::set_layer_class_pattern(model, std::move(layers));
}

}  // namespace

bool is_megatron_hybrid_model(const model::ModelArchitecture& model) {
  return std::ranges::any_of(model::model_layer_classes(model), model::layer_has_one_branch);
}

void add_megatron_mixer_fields(DocumentTree& fields, const model::ModelArchitecture& model) {
  if (is_megatron_hybrid_model(model)) {
    fields.set("hybrid_layer_pattern", hybrid_layer_pattern_text(model, {}));
    if (model::model_has_mixer_kind(model, model::TokenMixer::kMamba2))
      add_mamba(fields, *model.state_mixer);
  } else if (model::model_has_mixer_kind(model, model::TokenMixer::kDeltaNet)) {
    add_delta_nets(fields, model);
  }
  add_windows(fields, model);
  add_unrotated(fields, model);
}

void read_megatron_mixer_fields(const FrameworkSettingsReader& fields,
                                model::ModelArchitecture& model, ImportReport& report) {
  if (const auto letters = letters_of(fields, model.layers)) {
    read_hybrid(fields, *letters, model, report);
  } else {
    read_delta_nets(fields, model);
  }
  read_attention_windows(fields, model);
  read_unrotated(fields, model);
}

bool has_unknown_hybrid_layer_letters(const FrameworkSettingsReader& fields) {
  const auto node = pattern_node(fields);
  return node && !model::layers_from_hybrid_pattern(main_letters(*node));
}

std::optional<std::int64_t> hybrid_layer_count(const FrameworkSettingsReader& fields) {
  const auto node = pattern_node(fields);
  if (!node) return std::nullopt;
  const std::int64_t layers = std::ssize(main_letters(*node));
  if (layers < 1 || layers > model::kMaxModelLayers) node->fail("has no layers, or too many");
  const auto said = fields.size("num_layers");
  if (said && *said != layers) {
    node->fail(fmt::format("has {} layers; num_layers says {}", layers, *said));
  }
  return layers;
}

std::string hybrid_layer_pattern_text(const model::ModelArchitecture& model,
                                      std::span<const std::int64_t> chunks) {
  std::string pattern;
  for (const model::LayerClass& layer : model::model_layer_classes(model))
    pattern += model::hybrid_layer_letter(layer).value_or('?');
  std::size_t end = 0;
  for (std::size_t i = 0; i + 1 < chunks.size(); ++i) {
    end += static_cast<std::size_t>(chunks[i]);
    pattern.insert(end++, 1, kCut);
  }
  return pattern;
}

std::vector<std::int64_t> hybrid_chunk_layer_counts(const FrameworkSettingsReader& fields) {
  const auto node = pattern_node(fields);
  std::vector<std::int64_t> chunks;
  if (!node) return chunks;
  chunks.push_back(0);
  for (const char letter : main_pattern(*node)) {
    if (letter == kCut) {
      chunks.push_back(0);
    } else {
      ++chunks.back();
    }
  }
  if (chunks.size() == 1) chunks.clear();
  return chunks;
}

}  // namespace stepwright::framework_files
