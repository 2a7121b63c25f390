#pragma once

#include <span>

#include "stepwright/framework_files/draft.h"

namespace stepwright {

/// Reads a configuration of axolotl, and those of DeepSpeed and Accelerate and the config.json
/// beside it.
void read_axolotl(std::span<const SourceFile> files, const Given& given, Draft& draft);

/// Whether a file is a configuration of axolotl.
bool is_axolotl(const SourceFile& file);

}  // namespace stepwright
