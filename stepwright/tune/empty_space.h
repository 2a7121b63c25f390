#pragma once

#include <string>

#include "stepwright/tune/enumeration.h"

namespace stepwright::tune {

/// Explains in words why a search space has no legal plan: names the rule that is to blame, then
/// changes each of which alone would leave legal plans (another batch, or a dimension that is no
/// longer limited).
std::string explain_empty_search_space(const plan::Job& job, const LegalPlanCounter& enumeration);

/// Explains why the space of a job has no legal plan; empty: it has one.
std::string explain_empty_search_space(const plan::Job& job);

}  // namespace stepwright::tune
