#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/core/named.h"
#include "stepwright/model/architecture.h"

namespace stepwright::plan {

/// How a framework splits layers over the stages of a pipeline: evenly, by equal numbers of modules
/// (`layers_by_modules`), or by cost (`layers_by_costs`).
enum class StageSplit : std::uint8_t { kEven, kModules, kCosts };
inline constexpr Named<StageSplit> kStageSplitNames[] = {
    {StageSplit::kEven, "even"}, {StageSplit::kModules, "modules"}, {StageSplit::kCosts, "costs"}};

/// Returns the layers of each of `stages` if a framework splits modules instead of layers: equally
/// many modules for each stage, the first stages taking the remainder. The embedding is one module
/// before the layers; the final norm and the head are two after them. Empty if a stage would have
/// no layer. (Aleph-Alpha/scaling, core/nn/parallel_module/pipeline_partitioning.py,
/// pipe_partition_uniform.)
std::vector<std::int64_t> layers_by_modules(std::int64_t layers, std::int64_t stages);

/// Costs of a model's modules if stages are filled by cost; the embedding costs nothing.
struct ModuleCosts {
  double layer = 1;
  double head = 0;
};

/// Returns the layers of each of `stages` if stages are filled in order: a stage takes modules
/// until their cost exceeds its equal share of the total. Every stage gets at least one layer,
/// taken from the stage before it. (huggingface/nanotron src/nanotron/trainer.py, build_model.)
std::vector<std::int64_t> layers_by_costs(std::int64_t layers, std::int64_t stages,
                                          const ModuleCosts& costs);

/// Returns the layers of each of `stages`; empty for the even split, and if there are fewer layers
/// than stages.
std::vector<std::int64_t> split_layers(StageSplit split, const model::Architecture& model,
                                       std::int64_t stages);

}  // namespace stepwright::plan
