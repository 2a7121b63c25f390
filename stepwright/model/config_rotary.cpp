#include "stepwright/model/config_rotary.h"

#include <algorithm>
#include <cmath>

#include "stepwright/model/config_layers.h"
#include "stepwright/model/layer_class_index.h"

namespace stepwright::model {
namespace {

constexpr double kLargest = 1e12;

struct RotaryNumbers {
  double base = 0;
  std::optional<RotaryScaling> scaling = {};
  bool operator==(const RotaryNumbers&) const = default;
};

double number_in(DocumentNode rope, std::string_view key, double fallback) {
  const auto found = rope.find(key);
  return found && !found->is_null() ? found->number(0, kLargest) : fallback;
}

/// Returns the kind by transformers' word for it; Phi-3's files call lists of factors `su` or
/// `yarn`.
RotaryScalingKind kind_of(const std::string& word, bool lists) {
  if (word == "su" || (word == "yarn" && lists)) return RotaryScalingKind::kLongRope;
  for (const auto& [kind, name] : kRotaryScalingNames) {
    if (name == word) return kind;
  }
  return RotaryScalingKind::kOther;
}

std::vector<double> numbers_of(DocumentNode rope, std::string_view key) {
  const DocumentNode list = rope.get(key);
  if (!list.is_sequence()) list.fail("must be a list of numbers");
  std::vector<double> found;
  for (std::size_t i = 0; i < list.size(); ++i) found.push_back(list.at(i).number(0, kLargest));
  return found;
}

/// Reads the original positions; the value at the top of the file overrides the one in `rope`.
std::int64_t original_positions(const ConfigJsonReader& fields, DocumentNode rope,
                                const ModelArchitecture& model) {
  constexpr std::string_view kKey = "original_max_position_embeddings";
  auto original = fields.value(kKey);
  if (!original) original = rope.find(kKey);
  if (original && !original->is_null()) return original->integer(1, kMaxModelDimension);
  return std::max<std::int64_t>(1, model.positions);
}

/// Reads the range of turns and the factor on sines and cosines (`_compute_yarn_parameters` of
/// transformers/modeling_rope_utils.py).
void read_yarn(DocumentNode rope, RotaryScaling& scaling) {
  scaling.low_frequency = number_in(rope, "beta_slow", 1);
  scaling.high_frequency = number_in(rope, "beta_fast", 32);
  scaling.mscale_all_dim = number_in(rope, "mscale_all_dim", 0);
  const double mscale = number_in(rope, "mscale", 0);
  if (mscale > 0 && scaling.mscale_all_dim > 0) scaling.mscale = mscale;
  const bool alone = mscale == 0 && scaling.mscale_all_dim > 0 && scaling.attention_factor == 0;
  if (alone) scaling.attention_factor = 0.1 * std::log(std::max(1.0, scaling.factor)) + 1;
  const auto rounded = rope.find("truncate");
  scaling.rounded = !rounded || rounded->is_null() || rounded->boolean();
}

std::optional<RotaryScaling> scaling_in(const ConfigJsonReader& fields, DocumentNode rope,
                                        const ModelArchitecture& model) {
  auto type = rope.find("rope_type");
  if (!type || type->is_null()) type = rope.find("type");
  if (!type || type->is_null() || type->text() == "default") return std::nullopt;
  const auto lists = rope.find("short_factor");
  const RotaryScalingKind kind = kind_of(type->text(), lists && !lists->is_null());
  RotaryScaling scaling = usual_rotary_scaling(kind);
  scaling.factor = number_in(rope, "factor", 1);
  const bool stretched = kind == RotaryScalingKind::kYarn || kind == RotaryScalingKind::kLongRope;
  if (!stretched && kind != RotaryScalingKind::kLlama3) return scaling;
  scaling.original_positions = original_positions(fields, rope, model);
  if (kind == RotaryScalingKind::kLlama3) {
    scaling.low_frequency = number_in(rope, "low_freq_factor", 1);
    scaling.high_frequency = number_in(rope, "high_freq_factor", 4);
    return scaling;
  }
  const double times =
      static_cast<double>(model.positions) / static_cast<double>(scaling.original_positions);
  scaling.factor = number_in(rope, "factor", std::max(1.0, times));
  scaling.attention_factor = number_in(rope, "attention_factor", 0);
  if (kind == RotaryScalingKind::kYarn) {
    read_yarn(rope, scaling);
  } else {
    scaling.short_factors = numbers_of(rope, "short_factor");
    scaling.long_factors = numbers_of(rope, "long_factor");
  }
  return scaling;
}

/// Returns the mapping of a layer type; nullopt if the file has one mapping for all types.
std::optional<DocumentNode> of_type(DocumentNode rope, std::string_view type) {
  const auto found = rope.find(type);
  return found && found->is_mapping() ? found : std::nullopt;
}

/// Reads base and scaling. HunYuan calls a base that `alpha` enlarges once, whatever the sequence
/// length, `dynamic` (`compute_ntk_alpha_rope_parameters`): it becomes the base, without a scaling.
RotaryNumbers numbers_in(const ConfigJsonReader& fields, DocumentNode mapping, double base,
                         const ModelArchitecture& model) {
  RotaryNumbers numbers{number_in(mapping, "rope_theta", base), scaling_in(fields, mapping, model)};
  const double stretch = number_in(mapping, "alpha", 0);
  const auto turned = static_cast<double>(2 * model.rotated_pairs_per_head());
  const bool dynamic = numbers.scaling && numbers.scaling->kind == RotaryScalingKind::kDynamic;
  if (!dynamic || stretch == 0 || turned <= 2) return numbers;
  return {numbers.base * std::pow(stretch, turned / (turned - 2))};
}

bool some_layer(const ModelArchitecture& model, bool slides) {
  return std::ranges::any_of(model_layer_classes(model), [&](const LayerClass& layer) {
    return layer.attends() && layer.rotated && (layer.window > 0) == slides;
  });
}

/// Reads the numbers of full layers and of layers with a window, which can have a base of their
/// own.
void read_two(const ConfigJsonReader& fields, DocumentNode full, DocumentNode sliding, double base,
              ModelArchitecture& model) {
  const bool both = some_layer(model, false) && some_layer(model, true);
  const RotaryNumbers main =
      numbers_in(fields, some_layer(model, false) ? full : sliding, base, model);
  model.rotary_base = main.base;
  model.rotary_scaling = main.scaling;
  const RotaryNumbers other = numbers_in(fields, sliding, base, model);
  if (!both || main == other) return;
  if (other.scaling) sliding.fail_unsupported("scaled rotary positions of sliding layers alone");
  model.window_rotary_base = other.base;
}

/// Reads a list with a rotary base for each layer; a layer without one is not rotated (Granite with
/// windows).
void read_layer_bases(DocumentNode list, ModelArchitecture& model) {
  check_one_entry_per_layer(list, model);
  const std::vector<LayerClass> layers = model_layer_classes(model);
  std::vector<double> bases;
  std::optional<double> full;
  std::optional<double> sliding;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const DocumentNode given = list.at(i);
    bases.push_back(given.is_null() ? 0 : given.number(0, kLargest));
    if (bases.back() == 0) continue;
    std::optional<double>& common = layers[i].window > 0 ? sliding : full;
    if (common.value_or(bases.back()) != bases.back()) {
      list.fail_unsupported("other bases of rotary positions in layers of one type");
    }
    common = bases.back();
  }
  turn_off_rotary_outside_layers(model, [&](const LayerClass&, std::int64_t i) {
    return bases[static_cast<std::size_t>(i)] > 0;
  });
  model.rotary_base = full ? *full : sliding.value_or(model.rotary_base);
  if (full && sliding && full != sliding) model.window_rotary_base = *sliding;
}

void read_common_numbers(const ConfigJsonReader& fields, double base, ModelArchitecture& model) {
  base = fields.read_number_or("rotary_emb_base", base, 0, kLargest);
  base = fields.read_number_or("rope_theta", base, 0, kLargest);
  model.rotary_base = base;
  const auto rope = fields.rotary_embedding_settings();
  if (const auto local = fields.value("rope_local_base_freq"); local && some_layer(model, true)) {
    model.window_rotary_base = local->number(0, kLargest);
  }
  if (!rope) return;
  if (!rope->is_mapping()) rope->fail("must be a mapping or null");
  const auto full = of_type(*rope, "full_attention");
  const auto sliding = of_type(*rope, "sliding_attention");
  if (full || sliding) {
    return read_two(fields, full ? *full : *sliding, sliding ? *sliding : *full, base, model);
  }
  const RotaryNumbers all = numbers_in(fields, *rope, base, model);
  model.rotary_base = all.base;
  model.rotary_scaling = all.scaling;
  if (const auto local = fields.value("rope_local_base_freq"); local && some_layer(model, true)) {
    model.window_rotary_base = local->number(0, kLargest);
  }
}

}  // namespace

void read_rotary_base_and_scaling(const ConfigJsonReader& fields, double base,
                                  ModelArchitecture& model) {
  read_common_numbers(fields, base, model);
  if (const auto list = fields.value("layer_rope_theta")) read_layer_bases(*list, model);
}

}  // namespace stepwright::model
