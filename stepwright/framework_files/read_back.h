#pragma once

#include <string>
#include <vector>

#include "stepwright/framework_files/target.h"

namespace stepwright::framework_files {

/// Writes a plan for a target and reads it back, so that no property is lost silently. Differences
/// in overlap, buckets or collective algorithms, which move no parameter and change no result,
/// become notes. Any other difference fails with `kUnsupported`, naming it and the plan that was
/// read back; with `nearest`, `planned` becomes that plan instead. Returns true if no difference
/// changes the step time.
bool verify_read_back(const LaunchTarget& target, plan::PlannedJob& planned, bool nearest,
                      std::vector<std::string>& notes);

}  // namespace stepwright::framework_files
