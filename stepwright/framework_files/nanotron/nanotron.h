#pragma once

#include <span>

#include "stepwright/framework_files/draft.h"

namespace stepwright {

/// Reads a configuration of nanotron: parallelism, tokens, optimizer and the model's sizes.
void read_nanotron(std::span<const SourceFile> files, const Given& given, Draft& draft);

/// Whether a file is such a configuration.
bool is_nanotron(const SourceFile& file);

}  // namespace stepwright
