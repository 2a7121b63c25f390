#pragma once

#include <string>
#include <vector>

#include "stepwright/framework_files/target.h"
#include "stepwright/plan/job.h"

namespace stepwright::framework_files {

/// Fails with `kUnsupported` if the files of a target (framework or launcher) cannot express the
/// job's training method (SFT, DPO, GRPO, ...), naming the targets that can. Adds a note if the
/// file leaves the method to the program that is started with it.
void check_training_method_supported(const LaunchTarget& target, const plan::Job& job,
                                     std::vector<std::string>& notes);

}  // namespace stepwright::framework_files
