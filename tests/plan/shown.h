#pragma once

#include <string>

#include "stepwright/plan/choices/changes.h"

namespace stepwright::plan {

/// Returns a plan as a label for tests: its differences from the default plan.
inline std::string shown(const Plan& plan) { return differing_choices_text(Plan{}, plan); }

}  // namespace stepwright::plan
