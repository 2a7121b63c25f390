#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/core/named.h"
#include "stepwright/model/architecture.h"

namespace stepwright::plan {

/// How a framework divides layers among pipeline stages: evenly, by equal numbers of modules
/// (`stage_layers_by_modules`), or by computing cost (`stage_layers_by_costs`).
enum class StageSplitRule : std::uint8_t { kEven, kModules, kCosts };
inline constexpr Named<StageSplitRule> kStageSplitNames[] = {{StageSplitRule::kEven, "even"},
                                                             {StageSplitRule::kModules, "modules"},
                                                             {StageSplitRule::kCosts, "costs"}};

/// Returns the layers of each pipeline stage when stages get equally many modules, the first ones
/// taking the remainder. Modules: the embedding, each layer, the final norm, the head. Empty if a
/// stage would have no layer. (Aleph-Alpha/scaling,
/// core/nn/parallel_module/pipeline_partitioning.py, pipe_partition_uniform.)
std::vector<std::int64_t> stage_layers_by_modules(std::int64_t layers, std::int64_t stages);

/// Computing cost of a model's modules when layers are divided among stages by cost; the embedding
/// costs nothing.
struct ModuleCosts {
  double layer = 1;
  double head = 0;
};

/// Returns the layers of each pipeline stage when stages are filled in order: each takes modules
/// until their cost exceeds an equal share of the total. A stage without layers takes one from the
/// stage before. (huggingface/nanotron src/nanotron/trainer.py, build_model.)
std::vector<std::int64_t> stage_layers_by_costs(std::int64_t layers, std::int64_t stages,
                                                const ModuleCosts& costs);

/// Returns the layers of each pipeline stage as a framework divides them; empty for the even split,
/// and if there are fewer layers than stages.
std::vector<std::int64_t> framework_layer_counts_per_stage(StageSplitRule split,
                                                           const model::ModelArchitecture& model,
                                                           std::int64_t stages);

}  // namespace stepwright::plan
