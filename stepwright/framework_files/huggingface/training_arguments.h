#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/framework_files/huggingface/hub_files.h"
#include "stepwright/framework_files/huggingface/trainer.h"

namespace stepwright::framework_files {

/// Reads a plan from settings named as in transformers' TrainingArguments (releases 4 and 5) and
/// TRL's SFTConfig: model, batch, precision, recomputation, optimizer, degrees, adapters. Sources:
/// huggingface/transformers src/transformers/training_args.py; huggingface/trl
/// trl/trainer/sft_config.py.
PlanDraft read_training_arguments(const FrameworkSettingsReader& arguments,
                                  const TransformersProgramFiles& files, const UserFacts& given,
                                  PlanDraft draft, ImportReport& report,
                                  std::span<const KnownSetting> known);

/// Reads the method of TRL that a script's name contains ("sft", "dpo", "grpo"; trl 1.16.0
/// trl/trainer/dpo_config.py, grpo_config.py). One generation of completions serves `updates`
/// updates; GRPO has a reference model if `beta` is above 0. `usual_beta`: beta if it is not
/// stated.
void read_trl_method(std::string_view script, const FrameworkSettingsReader& arguments,
                     PartialPlan& settled, double usual_beta = 0);

/// Reads batch, precision, recomputation, optimizer, FSDP and DeepSpeed from settings named as in
/// TrainingArguments. Sequence length and number of ranks are left to the caller, because programs
/// have different names for them.
void read_trainer_settings(const FrameworkSettingsReader& arguments,
                           const TransformersProgramFiles& files, TrainerDistribution& trainer,
                           PartialPlan& settled, StatedStepBatch& batch, ImportReport& report);

/// Reads FSDP's options from `fsdp` and `fsdp_config` (which overrides `fsdp`) of
/// TrainingArguments. `section_alone`: `fsdp_config` turns FSDP on even without `fsdp`. Returns
/// true if FSDP is on.
bool read_fsdp_settings(const FrameworkSettingsReader& fields, bool section_alone,
                        TrainerDistribution& trainer);

/// Applies the setting `key`, which is on and moves kept activations to host memory. With full
/// recomputation (read before) these are the inputs of layers; otherwise no plan expresses the
/// setting, and it is reported.
void apply_layer_input_offload(const FrameworkSettingsReader& fields, std::string_view key,
                               plan::Plan& plan);

/// Completes the plan of a transformers program with the ranks and the sharding that Accelerate's
/// files and options state, and adds all settings of `fields` to the report.
PlanDraft complete_transformers_plan(const FrameworkSettingsReader& fields,
                                     const TransformersProgramFiles& files,
                                     TrainerDistribution& trainer, const UserFacts& given,
                                     PlanDraft draft, ImportReport& report,
                                     std::span<const KnownSetting> known);

/// Keeps the inputs of recomputed layers in host memory if `gradient_checkpointing_kwargs` has
/// `offload: true` (transformers 5.23 src/transformers/trainer.py: pinned host memory).
void apply_checkpointed_input_offload(const FrameworkSettingsReader& arguments, plan::Plan& plan);

}  // namespace stepwright::framework_files
