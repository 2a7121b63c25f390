#pragma once

#include <string>
#include <vector>

#include "stepwright/framework_files/target.h"

namespace stepwright::framework_files {

/// Writes a plan's file and reads it back. Differences in overlap, buckets or collectives become
/// notes. Fails with `kUnsupported` if the file loses a job property or gives another plan; with
/// `nearest`, that plan replaces `planned`. Returns true if no difference changes the step time.
bool write_and_read_back_plan(const LaunchTarget& target, plan::PlannedJob& planned, bool nearest,
                              std::vector<std::string>& notes);

}  // namespace stepwright::framework_files
