#pragma once

#include <span>
#include <string>
#include <vector>

#include "stepwright/framework_files/draft/draft.h"

namespace stepwright::framework_files {

/// Writes a script that starts `megatron sft` (Megatron-SWIFT) for a few steps on a public data
/// set. Fails with `kUnsupported` on what its arguments cannot say, naming it.
std::string write_swift(const plan::PlannedJob& planned, const std::vector<std::string>& header);

/// Reads a shell script that starts `swift sft` or `megatron sft` of ms-swift, or the former's
/// arguments as YAML, and a configuration of DeepSpeed and the config.json of a model beside it.
void read_swift(std::span<const launch_scripts::SourceFile> files, const Given& given,
                Draft& draft);

}  // namespace stepwright::framework_files
