#pragma once

#include <string>
#include <vector>

#include "stepwright/framework_files/target.h"
#include "stepwright/plan/job.h"

namespace stepwright::framework_files {

/// Refuses a method of learning that the files of a target do not say, with the targets that are
/// written for it. Where another program says the method, `notes` get which one that is to be.
void settle_method(const LaunchTarget& target, const plan::Job& job,
                   std::vector<std::string>& notes);

}  // namespace stepwright::framework_files
