#pragma once

#include <span>
#include <string>
#include <vector>

#include "stepwright/framework_files/draft/draft.h"

namespace stepwright::framework_files {

/// A recipe of Megatron-Bridge (NeMo): a Python function that returns a ConfigContainer.
std::string write_nemo(const plan::PlannedJob& planned, const std::vector<std::string>& header);

/// Reads such a recipe, of which all arguments must be literals, or the YAML of a ConfigContainer.
void read_nemo(std::span<const launch_scripts::SourceFile> files, const Given& given, Draft& draft);

}  // namespace stepwright::framework_files
