#pragma once

#include <span>
#include <string>
#include <vector>

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/launch_scripts/shell/script.h"

namespace stepwright::framework_files {

/// Writes a configuration of LLaMA-Factory that trains a few steps on a data set of its own. Fails
/// with `kUnsupported` on degrees and states that it has no keys for.
std::string write_llamafactory(const plan::PlannedJob& planned,
                               const std::vector<std::string>& header);

/// Reads a configuration of LLaMA-Factory, and those of DeepSpeed and Accelerate and the
/// config.json beside it.
void read_llamafactory(std::span<const launch_scripts::SourceFile> files, const Given& given,
                       Draft& draft);

/// Whether a command starts LLaMA-Factory's training.
bool starts_llamafactory(std::span<const launch_scripts::ShellWord> words);

}  // namespace stepwright::framework_files
