#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/core/named.h"
#include "stepwright/model/architecture.h"

namespace stepwright::plan {

/// How a framework deals layers to the stages of a pipeline: evenly, by equal numbers of modules
/// (`layers_by_modules`), or by what they cost (`layers_by_costs`).
enum class StageSplit : std::uint8_t { kEven, kModules, kCosts };
inline constexpr Named<StageSplit> kStageSplitNames[] = {
    {StageSplit::kEven, "even"}, {StageSplit::kModules, "modules"}, {StageSplit::kCosts, "costs"}};

/// Layers of each of `stages` when a framework deals out modules instead of layers: as many modules
/// to each stage, the first ones taking what is left over. The embedding is a module before the
/// layers, the final norm and the head are two behind them. Empty where a stage would have no
/// layer. (Aleph-Alpha/scaling, core/nn/parallel_module/pipeline_partitioning.py,
/// pipe_partition_uniform.)
std::vector<std::int64_t> layers_by_modules(std::int64_t layers, std::int64_t stages);

/// The weights of a model's modules when stages are filled by cost; the embedding weighs nothing.
struct ModuleCosts {
  double layer = 1;
  double head = 0;
};

/// Layers of each of `stages` when they are filled in order: a stage takes modules until the sum of
/// costs is above its share of all. Every stage gets a layer at least, from the one before it.
/// (huggingface/nanotron src/nanotron/trainer.py, build_model.)
std::vector<std::int64_t> layers_by_costs(std::int64_t layers, std::int64_t stages,
                                          const ModuleCosts& costs);

/// Layers of each of `stages`; empty for the even split, and where there are fewer layers than
/// stages.
std::vector<std::int64_t> split_layers(StageSplit split, const model::Architecture& model,
                                       std::int64_t stages);

}  // namespace stepwright::plan
