#pragma once

#include <span>

#include "stepwright/framework_files/draft.h"

namespace stepwright {

/// Reads configurations of GPT-NeoX, whose words may have dashes or underscores and which carry
/// those of DeepSpeed; several files are one.
void read_gpt_neox(std::span<const SourceFile> files, const Given& given, Draft& draft);

/// Whether a file is such a configuration.
bool is_gpt_neox(const SourceFile& file);

}  // namespace stepwright
