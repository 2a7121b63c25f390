#pragma once

#include <string>

#include "stepwright/framework_files/draft/draft.h"

namespace stepwright::framework_files {

/// The key under which training code recomputes each layer (huggingface/transformers
/// src/transformers/training_args.py).
inline constexpr const char* kRecomputeKey = "gradient_checkpointing";
/// The key under which training code keeps the inputs of recomputed layers in host memory, as in
/// TRL (huggingface/trl trl/models/activation_offloading.py).
inline constexpr const char* kOffloadInputsKey = "activation_offloading";

/// Returns the optimizer to write for a job: AdamW in place of Adam, as is usual for language
/// models. A step of either takes the same time and memory.
plan::Optimizer written_optimizer(const plan::Job& job);

/// Returns a comment line with the properties that a file has no key for and that the training code
/// must provide: micro-batch, batch, optimizer, what is trained and, with `recomputes`,
/// recomputation.
std::string code_notes(const plan::PlannedJob& planned, bool recomputes);

/// Reads the line that `code_notes` writes; if the file lacks it, notes the values that are
/// assumed.
Draft read_code_notes(const SourceFile& file, Draft draft, ImportReport& report);

}  // namespace stepwright::framework_files
