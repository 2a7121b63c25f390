#pragma once

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/draft/tables.h"
#include "stepwright/framework_files/rules/rule.h"

namespace stepwright::framework_files {

/// Where the settings of Megatron-Core have their rows.
inline constexpr std::string_view kMegatronTable = "megatron/settings";

/// The row of a setting of Megatron-Core.
inline const KnownSetting& megatron_row(std::string_view key) {
  return setting_of(kMegatronTable, key);
}

/// Returns the value of a setting of Megatron-Core where a file of a framework is silent; empty: a
/// file must say it.
inline std::string_view megatron_usual(std::string_view key, const plan::Framework& framework) {
  return megatron_row(key).usual.word_for(framework.name);
}

// The rules between settings of Megatron-Core and plans, in the order in which they read.

/// Ranks of tensor, pipeline and context parallelism, and sequence parallelism.
extern const Rule kDegrees;
/// Ranks that share the experts; means nothing for a model without experts.
extern const Rule kExpertDegrees;
/// How ranks of context parallelism exchange keys and values.
extern const Rule kContextKind;
/// Which ranks are neighbours.
extern const Rule kRankOrder;
extern const Rule kMicroBatch;
/// Layers of each stage, and the schedule of a pipeline.
extern const Rule kPipeline;
/// Model states that data-parallel ranks share, their buckets and their overlap.
extern const Rule kSharding;
/// Activations that the backward pass computes again.
extern const Rule kRecompute;
/// Activations and optimizer states in host memory.
extern const Rule kOffload;
/// Types of parameters and of summed gradients.
extern const Rule kPrecision;
/// The optimizer, and how Muon's is dealt out.
extern const Rule kOptimizer;
/// Types of the optimizer's states.
extern const Rule kOptimizerTypes;
/// Kernels, workspaces and CUDA graphs of layers.
extern const Rule kKernels;
/// How experts exchange tokens.
extern const Rule kDispatcher;
/// Messages of tensor parallelism beside products.
extern const Rule kTensorOverlap;
/// Messages of experts beside computation.
extern const Rule kExpertOverlap;

/// Reads the batch, which is no rule yet, as a person may give it: of one that grows the last is
/// taken.
void read_batch_fields(const Fields& fields, const Given& given, JobBatch& job_batch,
                       ImportReport& report);

}  // namespace stepwright::framework_files
