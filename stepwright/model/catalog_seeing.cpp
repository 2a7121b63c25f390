// Sizes from the config.json of Qwen/Qwen2.5-VL-*-Instruct and Qwen/Qwen3-VL-*-Instruct.
#include "stepwright/model/catalog_seeing.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "stepwright/core/document.h"
#include "stepwright/model/config_encoder.h"

namespace stepwright::model {
namespace {

/// Sizes in the `vision_config` of a release, without the width of the decoder behind it.
struct Eyes {
  std::string_view model_type;
  int depth, hidden, ffn, patch;
  std::string_view rest;
};

/// The fourth of its layers in each eight see the whole image, the others windows of it.
constexpr std::string_view kWindows =
    R"("window_size": 112, "fullatt_block_indexes": [7, 15, 23, 31])";

constexpr Eyes kEyesOf25{"qwen2_5_vl", 32, 1280, 3420, 14, kWindows};
constexpr Eyes kEyesOf25At32b{"qwen2_5_vl", 32, 1280, 3456, 14, kWindows};
constexpr Eyes kSmallEyesOf3{
    "qwen3_vl", 24, 1024,
    4096,       16, R"("num_position_embeddings": 2304, "deepstack_visual_indexes": [5, 11, 17])"};
constexpr Eyes kEyesOf3{
    "qwen3_vl", 27, 1152,
    4304,       16, R"("num_position_embeddings": 2304, "deepstack_visual_indexes": [8, 16, 24])"};

struct SeeingRow {
  std::string_view name, decoder;
  const Eyes* eyes;
};

constexpr SeeingRow kSeeing[] = {
    {"qwen2.5-vl-32b", "qwen2.5-32b", &kEyesOf25At32b},
    {"qwen2.5-vl-3b", "qwen2.5-3b", &kEyesOf25},
    {"qwen2.5-vl-72b", "qwen2.5-72b", &kEyesOf25At32b},
    {"qwen2.5-vl-7b", "qwen2.5-7b", &kEyesOf25},
    {"qwen3-vl-235b-a22b", "qwen3-235b-a22b", &kEyesOf3},
    {"qwen3-vl-2b", "qwen3-1.7b", &kSmallEyesOf3},
    {"qwen3-vl-30b-a3b", "qwen3-30b-a3b", &kEyesOf3},
    {"qwen3-vl-32b", "qwen3-32b", &kEyesOf3},
    {"qwen3-vl-4b", "qwen3-4b", &kSmallEyesOf3},
    {"qwen3-vl-8b", "qwen3-8b", &kEyesOf3},
};

const SeeingRow* seeing_row(std::string_view name) {
  const auto* row = std::ranges::find(kSeeing, name, &SeeingRow::name);
  return row == std::end(kSeeing) ? nullptr : row;
}

/// A config.json with no more than the encoder.
Document config_of(const Eyes& eyes, std::int64_t decoder_hidden, bool experts) {
  const std::string type = fmt::format("{}{}", eyes.model_type, experts ? "_moe" : "");
  return Document::parse(
      fmt::format(R"({{"model_type": "{0}", "vision_config": {{"model_type": "{0}", "depth": {1},
        "hidden_size": {2}, "intermediate_size": {3}, "num_heads": 16, "patch_size": {4},
        "out_hidden_size": {5}, {6}}}}})",
                  type, eyes.depth, eyes.hidden, eyes.ffn, eyes.patch, decoder_hidden, eyes.rest),
      "config.json");
}

}  // namespace

std::vector<std::string_view> seeing_models() {
  std::vector<std::string_view> names;
  for (const SeeingRow& row : kSeeing) names.push_back(row.name);
  return names;
}

std::optional<std::string_view> decoder_below(std::string_view name) {
  const SeeingRow* row = seeing_row(name);
  return row == nullptr ? std::nullopt : std::optional(row->decoder);
}

Architecture seeing_model(std::string_view name, Architecture decoder) {
  const bool third = name.starts_with("qwen3");
  decoder.name = name;
  decoder.positions = third ? 262144 : 128000;
  if (third) decoder.rotary_base = 5e6;
  const Document config =
      config_of(*seeing_row(name)->eyes, decoder.hidden, decoder.experts.has_value());
  decoder.encoder = read_encoder(config.root(), decoder);
  return decoder;
}

}  // namespace stepwright::model
