#pragma once

#include <string>
#include <vector>

#include "stepwright/framework_files/target.h"

namespace stepwright::framework_files {

/// Writes a plan for a target and reads it back, so that nothing is lost in silence. What comes
/// back otherwise is a note where it is overlap, buckets or algorithms of collectives, which move
/// no parameter and change no result. Anything else fails with `kUnsupported`, naming it and the
/// plan that comes back; with `nearest` that plan is taken. Returns true if nothing comes back
/// otherwise that changes what a step takes.
bool settle_read_back(const LaunchTarget& target, plan::PlannedJob& planned, bool nearest,
                      std::vector<std::string>& notes);

}  // namespace stepwright::framework_files
