#pragma once

#include <span>
#include <string>
#include <vector>

#include "stepwright/framework_files/draft/draft.h"

namespace stepwright::framework_files {

/// Writes a configuration of torchtune that trains a few steps on a small public data set.
std::string write_torchtune(const plan::PlannedJob& planned,
                            const std::vector<std::string>& header);

/// Reads a configuration of torchtune, or a script that starts it with one (`tune run`). Fails with
/// `kInput` on what its recipes refuse, with `kUnsupported` where nothing is trained.
void read_torchtune(std::span<const launch_scripts::SourceFile> files, const Given& given,
                    Draft& draft);

}  // namespace stepwright::framework_files
