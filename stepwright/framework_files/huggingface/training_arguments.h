#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/framework_files/huggingface/hub_files.h"
#include "stepwright/framework_files/huggingface/trainer.h"

namespace stepwright::framework_files {

/// Reads micro-batch, accumulation, precision, recomputation, optimizer and degrees under the names
/// of transformers' TrainingArguments (releases 4 and 5) and trl's SFTConfig. Sources:
/// huggingface/transformers src/transformers/training_args.py; huggingface/trl
/// trl/trainer/sft_config.py.
Draft read_training_arguments(const Fields& arguments, const HubFiles& files,
                              const UserFacts& given, Draft draft, ImportReport& report,
                              std::span<const KnownSetting> known);

/// Reads training arguments except length and distribution over ranks, for programs that have names
/// of their own for these.
void read_trainer_fields(const Fields& arguments, const HubFiles& files, Trainer& trainer,
                         PartialPlan& settled, JobBatch& batch, ImportReport& report);

/// Reads `fsdp` and `fsdp_config`, which overrides it; with `section_alone`, `fsdp_config` turns
/// FSDP on without `fsdp`. Returns true if FSDP is on.
bool read_fsdp_settings(const Fields& fields, bool section_alone, Trainer& trainer);

/// Takes a setting that moves kept activations to the host, if it is on. With full recomputation,
/// which must be read before, these are the inputs of layers; otherwise the setting is left out.
void apply_input_offload(const Fields& fields, std::string_view key, plan::Plan& plan);

/// Distributes the program over the ranks that `files` start, and reports what happened to
/// settings.
Draft complete_program_plan(const Fields& fields, const HubFiles& files, Trainer& trainer,
                            const UserFacts& given, Draft draft, ImportReport& report,
                            std::span<const KnownSetting> known);

/// Moves checkpoints to the host if `gradient_checkpointing_kwargs` says so. transformers 5.23
/// src/transformers/trainer.py: `offload` holds checkpoints in pinned host memory.
void apply_checkpoint_offload(const Fields& arguments, plan::Plan& plan);

}  // namespace stepwright::framework_files
