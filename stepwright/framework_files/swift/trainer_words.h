#pragma once

#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/framework_files/huggingface/hub_files.h"

namespace stepwright::framework_files {

/// Reads the arguments of ms-swift's `swift sft` (transformers' Trainer). Sources:
/// modelscope/ms-swift swift/arguments/sft_args.py, swift/arguments/base_args,
/// swift/trainers/arguments.py, swift/config.
PlanDraft read_swift_trainer_arguments(const FrameworkSettingsReader& fields,
                                       const TransformersProgramFiles& files,
                                       const UserFacts& given, PlanDraft draft,
                                       ImportReport& report);

/// Reads LoRA adapters and frozen encoder parts from ms-swift's settings; `usual` is the program's
/// default `tuner_type` ("lora", "full"). Sources: modelscope/ms-swift
/// swift/arguments/tuner_args.py, swift/arguments/base_args/quant_args.py.
void read_swift_adapters(const FrameworkSettingsReader& fields, std::string_view usual,
                         const UserFacts& given, StatedModel& model_words, ImportReport& report);

/// Reads the method of `swift rlhf` and `megatron rlhf` from `rlhf_type`. For GRPO, adds the length
/// of a completion to the sequence length, which must have been read. Source: modelscope/ms-swift
/// swift/arguments/rlhf_args.py.
void read_swift_method(const FrameworkSettingsReader& fields, PartialPlan& partial,
                       StatedStepBatch& batch);

/// Reads from ms-swift's settings how documents are packed into sequences; used only if the user
/// states document lengths.
void read_swift_packing(const FrameworkSettingsReader& fields, const UserFacts& given,
                        StatedStepBatch& batch, ImportReport& report);

}  // namespace stepwright::framework_files
