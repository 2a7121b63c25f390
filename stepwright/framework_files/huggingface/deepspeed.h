#pragma once

#include <cstdint>
#include <optional>

#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/draft/fields.h"

namespace stepwright::framework_files {

/// DeepSpeed's default bucket size for gradients and parameters, in elements (deepspeedai/DeepSpeed
/// deepspeed/runtime/zero/config.py: DeepSpeedZeroConfig).
inline constexpr std::int64_t kDeepspeedDefaultBucketElements = 500'000'000;

/// Values of transformers' Trainer that replace "auto" in a DeepSpeed configuration; nullopt:
/// unknown.
struct TrainerAutoValues {
  std::optional<std::int64_t> micro_batch, accumulation;
  std::optional<DType> precision;
  /// Width of the model's hidden states, in elements, from which the Trainer derives "auto" bucket
  /// sizes; nullopt: unknown.
  std::optional<std::int64_t> hidden;
};

/// Reads a DeepSpeed configuration. `trainer` has the values with which transformers' Trainer
/// replaces "auto" (also bucket sizes, from the hidden width); null: no Trainer. Fails with
/// `kInput` if batch or precision differ from the Trainer's, because the program would not start.
/// Sources: huggingface/transformers src/transformers/integrations/deepspeed.py:
/// HfTrainerDeepSpeedConfig; huggingface/accelerate src/accelerate/utils/dataclasses.py:
/// DeepSpeedPlugin (precision).
PlanDraft read_deepspeed_configuration(const YamlJsonDocument& document, const UserFacts& given,
                                       PlanDraft draft, ImportReport& report,
                                       const TrainerAutoValues* trainer = nullptr);

/// True if a job trains with DeepSpeed, directly or through a program that is built on DeepSpeed.
bool trains_with_deepspeed(const plan::Job& job);

/// Returns a plan's DeepSpeed configuration for a program that uses transformers' Trainer; batch
/// and precision are `auto`, because the Trainer fills them in.
DocumentTree deepspeed_configuration(const plan::PlannedJob& planned);

/// Reads from DeepSpeed's `zero_optimization` which messages overlap at a ZeRO stage. The plan must
/// have degrees.
void read_deepspeed_overlap(const FrameworkSettingsReader& zero, int stage, plan::Plan& plan);

/// Reads from DeepSpeed's `zero_optimization` what is offloaded to host memory at a ZeRO stage:
/// optimizer states (at stage 3 all or a share of them) and, at stage 3, parameters. The plan must
/// have degrees and sharding. Source: deepspeedai/DeepSpeed
/// deepspeed/runtime/zero/offload_config.py.
void read_deepspeed_offload(const FrameworkSettingsReader& zero, int stage, plan::Plan& plan,
                            ImportReport& report);

}  // namespace stepwright::framework_files
