#pragma once

#include <string>

#include "stepwright/framework_files/draft/draft.h"

namespace stepwright::framework_files {

/// The key under which training code recomputes each layer (huggingface/transformers
/// src/transformers/training_args.py).
inline constexpr const char* kRecomputes = "gradient_checkpointing";
/// The key under which training code keeps the inputs of recomputed layers on the host, as TRL has
/// it (huggingface/trl trl/models/activation_offloading.py).
inline constexpr const char* kMovesInputs = "activation_offloading";

/// The optimizer that the files of a job say: AdamW in the place of Adam, as those who train
/// language models have it. A step of both takes the same.
plan::Optimizer written_optimizer(const plan::Job& job);

/// A comment line with what a file has no key for and the training code must do: micro-batch,
/// batch, optimizer, what is trained, and (`recomputes`) its recomputation.
std::string code_notes(const plan::PlannedJob& planned, bool recomputes);

/// Reads that line, if the file has it; else notes what is taken in its place.
Draft read_code_notes(const SourceFile& file, Draft draft, ImportReport& report);

}  // namespace stepwright::framework_files
