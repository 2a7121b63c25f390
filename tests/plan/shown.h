#pragma once

#include <string>

#include "stepwright/plan/choices/changes.h"

namespace stepwright::plan {

/// A plan as labels of tests show it: what differs from a plan that chooses nothing.
inline std::string shown(const Plan& plan) { return changes(Plan{}, plan); }

}  // namespace stepwright::plan
