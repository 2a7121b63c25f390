#pragma once

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/draft/tables.h"
#include "stepwright/framework_files/rules/rule.h"

namespace stepwright::framework_files {

/// Name of the compiled-in table with the settings of Megatron-Core that are known here.
inline constexpr std::string_view kMegatronSettingsTable = "megatron/settings";

/// Returns the row of a Megatron-Core setting in the settings table: its plan field, default and
/// effect.
inline const KnownSetting& megatron_setting_row(std::string_view key) {
  return find_setting_row(kMegatronSettingsTable, key);
}

/// Returns the default value of a Megatron-Core setting in a framework that runs Megatron-Core;
/// empty: the table has none.
inline std::string_view megatron_default_value(std::string_view key,
                                               const plan::TrainingFramework& framework) {
  return megatron_setting_row(key).usual.text_for_framework(framework.name);
}

// Rules between settings of Megatron-Core and plans, in the order in which they read.

/// Translates degrees of tensor, pipeline and context parallelism, and sequence parallelism,
/// between Megatron-Core's settings and plans.
extern const SettingTranslationRule kDegrees;
/// Translates degrees of expert parallelism between Megatron-Core's settings and plans; no effect
/// for a dense model.
extern const SettingTranslationRule kExpertDegrees;
/// Translates how context-parallel ranks exchange keys and values (ring, all-gather, ...) between
/// Megatron-Core's `cp_comm_type` and plans.
extern const SettingTranslationRule kContextKind;
/// Translates the order in which ranks are numbered along the parallel dimensions between
/// Megatron-Core's `use_tp_pp_dp_mapping` and plans.
extern const SettingTranslationRule kRankOrder;
extern const SettingTranslationRule kMicroBatch;
/// Translates layers per pipeline stage and the pipeline schedule between Megatron-Core's settings
/// and plans.
extern const SettingTranslationRule kPipeline;
/// Translates which states data-parallel ranks shard, bucket sizes and overlap between
/// Megatron-Core's settings and plans.
extern const SettingTranslationRule kSharding;
/// Translates activation recomputation between Megatron-Core's settings and plans.
extern const SettingTranslationRule kRecompute;
/// Translates offload of activations and optimizer states to host memory between Megatron-Core's
/// settings and plans.
extern const SettingTranslationRule kOffload;
/// Translates the types of parameters, products and accumulated gradients between Megatron-Core's
/// settings and plans.
extern const SettingTranslationRule kPrecision;
/// Translates the optimizer, and how Muon's work is distributed over tensor ranks, between
/// Megatron-Core's settings and jobs.
extern const SettingTranslationRule kOptimizer;
/// Translates the types in which optimizer states are stored between Megatron-Core's settings and
/// plans.
extern const SettingTranslationRule kOptimizerTypes;
/// Translates kernels of layers, their workspaces, and CUDA graphs between Megatron-Core's settings
/// and jobs.
extern const SettingTranslationRule kKernels;
/// Translates how expert-parallel ranks exchange tokens (all-to-all, DeepEP, ...) between
/// Megatron-Core's settings and jobs.
extern const SettingTranslationRule kDispatcher;
/// Translates overlap of tensor-parallel communication with matrix products between Megatron-Core's
/// settings and plans.
extern const SettingTranslationRule kTensorOverlap;
/// Translates overlap of expert-parallel communication with computation between Megatron-Core's
/// settings and plans.
extern const SettingTranslationRule kExpertOverlap;

/// Reads sequence count and micro-batches of a step from Megatron-Core's fields. If the batch size
/// grows during training, the final size is read.
void read_batch_fields(const FrameworkSettingsReader& fields, const UserFacts& given,
                       StatedStepBatch& job_batch, ImportReport& report);

}  // namespace stepwright::framework_files
