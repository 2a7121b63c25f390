#pragma once

#include <span>
#include <string>
#include <vector>

#include "stepwright/framework_files/draft/draft.h"

namespace stepwright::framework_files {

/// A configuration of torchtitan: TOML up to 0.2.2, a Python function that returns a Trainer.Config
/// after it.
std::string write_torchtitan(const plan::PlannedJob& planned,
                             const std::vector<std::string>& header);

/// Reads such a TOML file, or of a Python file the arguments of its one call of Trainer.Config, as
/// far as they are literals.
void read_torchtitan(std::span<const launch_scripts::SourceFile> files, const Given& given,
                     Draft& draft);

}  // namespace stepwright::framework_files
