#pragma once

#include <span>
#include <string>
#include <vector>

#include "stepwright/framework_files/draft/draft.h"

namespace stepwright::framework_files {

/// A shell script that starts Megatron-LM's pretrain_gpt.py with torchrun. `header` stands on top
/// as comments. The plan runs on Megatron-Core.
std::string write_megatron(const plan::PlannedJob& planned, const std::vector<std::string>& header);

/// Reads a shell script, or a file of nothing but arguments: the command with most arguments of
/// Megatron-LM, and of its launcher the numbers of nodes and processes. Or the arguments that a log
/// or a model_config.yaml states (`stated.h`).
void read_megatron(std::span<const launch_scripts::SourceFile> files, const Given& given,
                   Draft& draft);

}  // namespace stepwright::framework_files
