#pragma once

#include <span>

#include "stepwright/framework_files/draft.h"

namespace stepwright {

/// Reads a configuration of LLaMA-Factory, and those of DeepSpeed and Accelerate and the
/// config.json beside it.
void read_llamafactory(std::span<const SourceFile> files, const Given& given, Draft& draft);

/// Whether a file is a configuration of LLaMA-Factory.
bool is_llamafactory(const SourceFile& file);

}  // namespace stepwright
