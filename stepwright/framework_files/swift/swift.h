#pragma once

#include <span>

#include "stepwright/framework_files/draft.h"

namespace stepwright {

/// Reads a shell script that starts `swift sft` or `megatron sft` of ms-swift, or the former's
/// arguments as YAML, and a configuration of DeepSpeed and the config.json of a model beside it.
void read_swift(std::span<const SourceFile> files, const Given& given, Draft& draft);

/// Whether a file is of ms-swift.
bool is_swift(const SourceFile& file);

}  // namespace stepwright
