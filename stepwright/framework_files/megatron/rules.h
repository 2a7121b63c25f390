#pragma once

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/draft/tables.h"
#include "stepwright/framework_files/rules/rule.h"

namespace stepwright::framework_files {

/// Name of the table with the settings of Megatron-Core.
inline constexpr std::string_view kMegatronTable = "megatron/settings";

/// Returns the table row of a Megatron-Core setting.
inline const KnownSetting& megatron_row(std::string_view key) {
  return setting_row(kMegatronTable, key);
}

/// Returns the default of a Megatron-Core setting under a framework; empty: a file must state it.
inline std::string_view megatron_usual(std::string_view key, const plan::Framework& framework) {
  return megatron_row(key).usual.framework_word(framework.name);
}

// Rules between settings of Megatron-Core and plans, in the order in which they read.

/// Degrees of tensor, pipeline and context parallelism, and sequence parallelism.
extern const Rule kDegrees;
/// Degrees of expert parallelism; no effect for a model without experts.
extern const Rule kExpertDegrees;
/// How context-parallel ranks exchange keys and values.
extern const Rule kContextKind;
/// Order of ranks: which ranks of a group are neighbours.
extern const Rule kRankOrder;
extern const Rule kMicroBatch;
/// Layers of each pipeline stage, and the pipeline schedule.
extern const Rule kPipeline;
/// Model states that data-parallel ranks shard, their buckets and their overlap.
extern const Rule kSharding;
/// Activations that the backward pass recomputes.
extern const Rule kRecompute;
/// Activations and optimizer states that are offloaded to host memory.
extern const Rule kOffload;
/// Types of parameters and of accumulated gradients.
extern const Rule kPrecision;
/// The optimizer, and how the work of Muon is distributed.
extern const Rule kOptimizer;
/// Types in which optimizer states are stored.
extern const Rule kOptimizerTypes;
/// Kernels of layers, their workspaces, and CUDA graphs.
extern const Rule kKernels;
/// How expert-parallel ranks exchange tokens.
extern const Rule kDispatcher;
/// Overlap of tensor-parallel messages with matrix products.
extern const Rule kTensorOverlap;
/// Overlap of expert-parallel messages with computation.
extern const Rule kExpertOverlap;

/// Reads the batch, for which there is no rule because the user can override it. For a batch size
/// that grows, the final size is taken.
void read_batch_fields(const Fields& fields, const UserFacts& given, JobBatch& job_batch,
                       ImportReport& report);

}  // namespace stepwright::framework_files
