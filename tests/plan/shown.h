#pragma once

#include <string>

#include "stepwright/plan/choices/changes.h"

namespace stepwright::plan {

/// Returns a plan as a label for tests: its differences from the default plan.
inline std::string shown(const Plan& plan) { return changes(Plan{}, plan); }

}  // namespace stepwright::plan
