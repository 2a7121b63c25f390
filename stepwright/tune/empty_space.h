#pragma once

#include <string>

#include "stepwright/tune/enumeration.h"

namespace stepwright::tune {

/// Explains why a space has no legal plan: names the rule to blame, then changes each of which
/// alone would leave legal plans (another batch, or a listed dimension that is freed). A rule that
/// looks at the job alone is named first; otherwise the last rule, in their order, that any plan
/// reached: such plans obey all rules before it.
std::string empty_space_reason(const plan::Job& job, const Enumeration& enumeration);

/// Explains why the space of a job has no legal plan; empty: it has one.
std::string empty_space_reason(const plan::Job& job);

}  // namespace stepwright::tune
