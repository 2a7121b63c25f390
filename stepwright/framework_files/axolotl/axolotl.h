#pragma once

#include <span>
#include <string>
#include <vector>

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/launch_scripts/shell/script.h"

namespace stepwright::framework_files {

/// Writes a configuration of axolotl that trains a few steps on a small public data set. Fails with
/// `kUnsupported` on states and kinds of attention that it has no keys for.
std::string write_axolotl(const plan::PlannedJob& planned, const std::vector<std::string>& header);

/// Reads a configuration of axolotl, or a script that starts it with one, and those of DeepSpeed
/// and Accelerate and the config.json beside it.
void read_axolotl(std::span<const launch_scripts::SourceFile> files, const Given& given,
                  Draft& draft);

/// Whether a command starts axolotl's training with a file of settings.
bool starts_axolotl(std::span<const launch_scripts::ShellWord> words);

}  // namespace stepwright::framework_files
