#include "stepwright/framework_files/axolotl/unfrozen.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "stepwright/core/error.h"
#include "stepwright/huggingface/config_writer.h"
#include "stepwright/huggingface/families.h"

namespace stepwright::framework_files {
namespace {

/// Beginning of a pattern that matches all names except those that follow. A point in it is
/// literal, and the pattern matches from a name's start (axolotl-ai-cloud/axolotl
/// src/axolotl/utils/freeze.py: LayerNamePattern).
constexpr std::string_view kAllBut = "^(?!";

/// Name prefixes of encoders in huggingface/transformers (modeling_llava.py, modeling_qwen2_vl.py,
/// modeling_internvl.py, modeling_idefics3.py and similar files), in releases with and without a
/// leading `model.`.
constexpr std::array<std::string_view, 6> kTowers = {"vision_tower.",       "vision_model.",
                                                     "vision_encoder.",     "visual.blocks.",
                                                     "visual.patch_embed.", "visual.pos_embed."};
constexpr std::array<std::string_view, 4> kProjectors = {
    "multi_modal_projector.", "connector.", "visual.merger.", "visual.deepstack_merger_list."};
constexpr std::string_view kBefore = "(model.)?";

struct DecoderNames {
  std::string embedding;  ///< Prefix of the names of the embedding's parameters.
  std::string layers;     ///< Prefix of layers' parameters, before the layer number.
};

/// Returns the parameter prefixes of a decoder, with or without an encoder in the model.
DecoderNames decoder_names(const model::ModelArchitecture& model) {
  if (model.encoder) {
    const std::string before = "(model.)?(language_model.)?(model.)?";
    return {before + "embed_tokens.", before + "layers."};
  }
  const huggingface::HuggingFaceWeightFamily& family =
      huggingface::huggingface_family_of_model(model);
  DecoderNames names;
  names.embedding = std::ranges::find(family.names, "embedding.word",
                                      &huggingface::HuggingFaceParameterNames::own)
                        ->theirs.front();
  names.embedding.resize(names.embedding.rfind('.') + 1);
  names.layers = family.layer.substr(0, family.layer.find('{'));
  return names;
}

std::string one_of(std::span<const std::string_view> names) {
  return fmt::format("{}({})", kBefore, fmt::join(names, "|"));
}

/// A sample parameter name for each part of a model.
struct PartNames {
  std::string embedding, encoder, projector, norm, head, layers;
};

PartNames part_names(const model::ModelArchitecture& model) {
  if (model.encoder) {
    return {.embedding = "model.language_model.embed_tokens.weight",
            .encoder = "model.vision_tower.encoder.weight",
            .projector = "model.multi_modal_projector.linear_1.weight",
            .norm = "model.language_model.norm.weight",
            .head = "lm_head.weight",
            .layers = "model.language_model.layers."};
  }
  const DecoderNames names = decoder_names(model);
  return {.embedding = names.embedding + "weight",
          .encoder = "",
          .projector = "",
          .norm = "model.norm.weight",
          .head = "lm_head.weight",
          .layers = names.layers};
}

/// Reads the frozen layers from the last list of numbers in a pattern: "layers.(4|5|6).".
void read_run(std::string_view pattern, model::FrozenModelParts& frozen) {
  const std::size_t open = pattern.rfind(".(");
  if (open == std::string_view::npos) return;
  const std::string_view list = pattern.substr(open + 2);
  const auto [end, error] = std::from_chars(list.data(), list.data() + list.size(), frozen.first);
  if (error != std::errc() || frozen.first < 0) return;
  frozen.layers =
      1 +
      std::count(list.begin(),
                 list.begin() + static_cast<std::ptrdiff_t>(std::min(list.find(')'), list.size())),
                 '|');
}

/// Returns the frozen parts for which `axolotl_unfrozen_parameters_regex` writes this pattern, by
/// trying all combinations; nullopt if it writes it for none.
std::optional<model::FrozenModelParts> frozen_of_own(const std::string& pattern,
                                                     model::ModelArchitecture model) {
  constexpr unsigned kWays = 8;
  for (unsigned parts = 0; parts < 2 * kWays; ++parts) {
    model.frozen = {.embedding = (parts & 1U) != 0,
                    .encoder = (parts & 2U) != 0,
                    .projector = (parts & 4U) != 0};
    if (!model.encoder && (model.frozen.encoder || model.frozen.projector)) continue;
    if ((parts & kWays) != 0) read_run(pattern, model.frozen);
    if (model.frozen.first + model.frozen.layers > model.layers) continue;
    if (model.frozen.any() && axolotl_unfrozen_parameters_regex(model) == pattern)
      return model.frozen;
  }
  return std::nullopt;
}

/// Returns the prefix of all names that a pattern matches; nullopt if the pattern is not a prefix.
std::optional<std::string> plain_prefix(std::string_view pattern) {
  if (pattern.starts_with('^')) pattern.remove_prefix(1);
  if (pattern.ends_with(".*")) pattern.remove_suffix(2);
  if (pattern.empty() || pattern.find_first_of("()[]{}*+?|^$\\") != std::string_view::npos) {
    return std::nullopt;
  }
  return std::string(pattern);
}

std::optional<model::FrozenModelParts> frozen_but_prefixes(const std::vector<std::string>& prefixes,
                                                           const model::ModelArchitecture& model) {
  const PartNames names = part_names(model);
  const auto trained = [&](const std::string& name) {
    return std::ranges::any_of(prefixes,
                               [&](const auto& prefix) { return name.starts_with(prefix); });
  };
  if (!trained(names.norm) || (!model.tied && !trained(names.head))) return std::nullopt;
  model::FrozenModelParts frozen{.embedding = !trained(names.embedding),
                                 .encoder = model.encoder && !trained(names.encoder),
                                 .projector = model.encoder && !trained(names.projector)};
  const bool within = std::ranges::any_of(prefixes, [&](const auto& prefix) {
    return prefix.size() > names.layers.size() && prefix.starts_with(names.layers);
  });
  if (within) return std::nullopt;
  if (!trained(names.layers)) frozen.layers = model.layers;
  return frozen;
}

}  // namespace

std::string axolotl_unfrozen_parameters_regex(const model::ModelArchitecture& model) {
  const model::FrozenModelParts& frozen = model.frozen;
  const DecoderNames names = decoder_names(model);
  std::vector<std::string> parts;
  if (frozen.embedding) parts.push_back(names.embedding);
  if (frozen.encoder) parts.push_back(one_of(kTowers));
  if (frozen.projector) parts.push_back(one_of(kProjectors));
  if (frozen.layers > 0) {
    std::vector<std::int64_t> layers;
    for (std::int64_t i = 0; i < frozen.layers; ++i) layers.push_back(frozen.first + i);
    parts.push_back(fmt::format("{}({}).", names.layers, fmt::join(layers, "|")));
  }
  return fmt::format("{}{})", kAllBut, fmt::join(parts, "|"));
}

std::optional<model::FrozenModelParts> frozen_parts_from_axolotl_patterns(
    const std::vector<std::string>& patterns, const model::ModelArchitecture& model) try {
  if (patterns.size() == 1 && patterns.front().starts_with(kAllBut)) {
    return frozen_of_own(patterns.front(), model);
  }
  std::vector<std::string> prefixes;
  for (const std::string& pattern : patterns) {
    const auto prefix = plain_prefix(pattern);
    if (!prefix) return std::nullopt;
    prefixes.push_back(*prefix);
  }
  return frozen_but_prefixes(prefixes, model);
} catch (const Error& error) {
  if (error.kind() != ErrorKind::kUnsupported) throw;
  return std::nullopt;
}

}  // namespace stepwright::framework_files
