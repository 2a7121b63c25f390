#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/framework_files/huggingface/hub_files.h"
#include "stepwright/framework_files/huggingface/trainer.h"

namespace stepwright::framework_files {

/// Reads micro-batch, accumulation, precision, recomputation, optimizer and degrees under the names
/// of transformers' TrainingArguments, of releases 4 and 5, and of trl's SFTConfig.
/// huggingface/transformers src/transformers/training_args.py;
/// huggingface/trl trl/trainer/sft_config.py.
Draft read_training_arguments(const Fields& arguments, const HubFiles& files, const Given& given,
                              Draft draft, ImportReport& report,
                              std::span<const KnownSetting> known);

/// Reads training arguments without the length and the spread over ranks, for programs that say
/// these in words of their own.
void read_trainer_fields(const Fields& arguments, const HubFiles& files, Trainer& trainer,
                         Settled& settled, JobBatch& batch, ImportReport& report);

/// Reads the words of `fsdp` and, over them, `fsdp_config`, which turns FSDP on by itself with
/// `section_alone`. Whether FSDP is on.
bool read_fsdp_settings(const Fields& fields, bool section_alone, Trainer& trainer);

/// Takes a setting that is on and moves to the host what is kept: with full recomputation, read
/// before, the inputs of layers; everything else is left out.
void take_moved_inputs(const Fields& fields, std::string_view key, plan::Plan& plan);

/// Spreads it over the ranks that `files` start, and lists what became of the settings.
Draft settle_program(const Fields& fields, const HubFiles& files, Trainer& trainer,
                     const Given& given, Draft draft, ImportReport& report,
                     std::span<const KnownSetting> known);

/// Moves checkpoints to the host where `gradient_checkpointing_kwargs` says so. transformers 5.23
/// src/transformers/trainer.py: `offload` holds what checkpoints save in pinned memory of the host.
void take_moved_checkpoints(const Fields& arguments, plan::Plan& plan);

}  // namespace stepwright::framework_files
