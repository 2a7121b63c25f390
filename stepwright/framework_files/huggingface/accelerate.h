#pragma once

#include <span>
#include <string>
#include <vector>

#include "stepwright/framework_files/draft.h"

namespace stepwright {

/// A configuration of Hugging Face Accelerate: FSDP2, DDP, or DeepSpeed's ZeRO-1. What it has no
/// key for stands in a comment that begins with `stepwright:`.
std::string write_accelerate(const PlannedJob& planned, const std::vector<std::string>& header);

/// Reads such a configuration, and a DeepSpeed one beside it that it may name.
void read_accelerate(std::span<const SourceFile> files, const Given& given, Draft& draft);

/// Whether a file is a configuration of Accelerate.
bool is_accelerate(const SourceFile& file);

}  // namespace stepwright
