#pragma once

#include <string>

#include "stepwright/framework_files/draft/draft.h"

namespace stepwright::framework_files {

/// Key of the setting that makes training code recompute each layer in the backward pass
/// (huggingface/transformers src/transformers/training_args.py).
inline constexpr const char* kGradientCheckpointingKey = "gradient_checkpointing";
/// Key of the setting that makes training code keep the inputs of recomputed layers in host memory,
/// as in TRL (huggingface/trl trl/models/activation_offloading.py).
inline constexpr const char* kActivationOffloadingKey = "activation_offloading";

/// Returns the optimizer to write into a file: AdamW for Adam, as is usual for language models,
/// otherwise the job's. A step of Adam and AdamW takes the same time and memory.
plan::Optimizer optimizer_to_export(const plan::Job& job);

/// Returns a comment (`# stepwright: {...}`) for a launch file with the properties that the file
/// has no key for and that the training code must set: the model's folder, micro-batch, batch,
/// optimizer, adapters, frozen parts, and recomputation if `recomputes`.
std::string training_code_settings_comment(const plan::PlannedJob& planned, bool recomputes);

/// Reads model, micro-batch, batch, optimizer and recomputation from a file's comment `#
/// stepwright:
/// {...}`. If the file lacks it, reports that the micro-batch is an assumption.
PlanDraft read_training_code_comment(const SourceFile& file, const UserFacts& given,
                                     PlanDraft draft, ImportReport& report);

}  // namespace stepwright::framework_files
