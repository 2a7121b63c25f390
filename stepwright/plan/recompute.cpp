#include "stepwright/plan/recompute.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

namespace stepwright::plan {
namespace {

std::string setting_word(const ActivationRecomputation& setting) {
  const std::string layers = setting.first > 0 ? fmt::format("first {}", setting.first)
                                               : fmt::format("every {}", setting.every);
  if (setting.kind == RecomputeKind::kEvery) return layers;
  const bool modules = setting.kind == RecomputeKind::kModules;
  const std::string word =
      modules ? fmt::format("{}", fmt::join(recompute_module_names(setting.modules), " + "))
              : std::string(name_of(kRecomputeNames, setting.kind));
  return recomputes_some_layers(setting) ? fmt::format("{} {}", word, layers) : word;
}

std::string chosen_layers_text(const ActivationRecomputation& setting) {
  if (setting.first > 0) return fmt::format("the first {} layers of a chunk", setting.first);
  return fmt::format("layers 0, {0}, 2 x {0}, ...", setting.every);
}

std::string setting_text(const ActivationRecomputation& setting) {
  switch (setting.kind) {
    case RecomputeKind::kNone: return "no recomputation";
    case RecomputeKind::kSelective: return "selective recomputation";
    case RecomputeKind::kFull: return "full recomputation";
    case RecomputeKind::kEvery:
      return fmt::format("recomputation of {}", chosen_layers_text(setting));
    case RecomputeKind::kModules: break;
  }
  const std::string modules =
      fmt::format("recomputation of {}", fmt::join(recompute_module_names(setting.modules), " + "));
  if (!recomputes_some_layers(setting)) return modules;
  return fmt::format("{} in {}", modules, chosen_layers_text(setting));
}

/// Describes positions with their own recomputation, in runs of equal ones: ", full on stages 0-3,
/// selective on stage 5".
std::string stages_words(const ActivationRecomputation& recompute) {
  std::string words;
  const std::vector<StageRecompute>& stages = recompute.stages;
  for (std::size_t i = 0; i < stages.size();) {
    const std::string word = setting_word(recompute_settings_of_stage(stages[i]));
    std::size_t last = i;
    while (last + 1 < stages.size() && stages[last + 1].position == stages[last].position + 1 &&
           setting_word(recompute_settings_of_stage(stages[last + 1])) == word) {
      ++last;
    }
    words += last == i ? fmt::format(", {} on stage {}", word, stages[i].position)
                       : fmt::format(", {} on stages {}-{}", word, stages[i].position,
                                     stages[last].position);
    i = last + 1;
  }
  return words;
}

}  // namespace

ActivationRecomputation recompute_of_pipeline_rank(const ActivationRecomputation& recompute,
                                                   std::int64_t position) {
  const auto stage = std::ranges::find(recompute.stages, position, &StageRecompute::position);
  if (stage != recompute.stages.end()) return recompute_settings_of_stage(*stage);
  return {recompute.kind, recompute.every, recompute.first, recompute.modules, {}};
}

LayerRecompute common_recompute_of_stages(const ActivationRecomputation& recompute) {
  std::optional<LayerRecompute> least;
  each_setting(recompute, [&](const ActivationRecomputation& setting) {
    const LayerRecompute own = common_layer_recompute(setting);
    least = !least || *least == own ? own : kNoRecompute;
  });
  return *least;
}

std::string recompute_setting_text(const ActivationRecomputation& recompute) {
  return setting_word(recompute) + stages_words(recompute);
}

std::string recompute_description(const ActivationRecomputation& recompute) {
  return setting_text(recompute) + stages_words(recompute);
}

}  // namespace stepwright::plan
