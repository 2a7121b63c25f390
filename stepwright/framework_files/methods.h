#pragma once

#include <string>
#include <vector>

#include "stepwright/framework_files/target.h"
#include "stepwright/plan/job.h"

namespace stepwright::framework_files {

/// Fails if the files of a target cannot express a job's training method, and names the targets
/// that can. If the method is chosen by the program that a person starts with the file, adds a note
/// which program that must be.
void check_method_supported(const LaunchTarget& target, const plan::Job& job,
                            std::vector<std::string>& notes);

}  // namespace stepwright::framework_files
