#pragma once

#include <span>
#include <string>
#include <vector>

#include "stepwright/framework_files/draft/draft.h"

namespace stepwright::framework_files {

/// A program for torchrun that trains the plan's model with FSDP2 or DDP (programs/fsdp.py), the
/// plan as a JSON text in it.
std::string write_fsdp(const plan::PlannedJob& planned, const std::vector<std::string>& header);

/// Reads the plan of such a program.
void read_fsdp(std::span<const launch_scripts::SourceFile> files, const Given& given, Draft& draft);

}  // namespace stepwright::framework_files
