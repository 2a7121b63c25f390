#pragma once

#include <string>

#include "stepwright/tune/enumeration.h"

namespace stepwright::tune {

/// Says what empties a space without a legal plan. Rules that look
/// at the job alone come first; else it is the last of the rules in their order that a plan came
/// to: such plans obey all rules before it. Then come the changes that would leave legal plans,
/// each by itself: a batch, or a listed dimension that is freed.
std::string why_empty(const plan::Job& job, const Enumeration& enumeration);

/// Why the space of a job has no legal plan; empty: it has one.
std::string why_empty(const plan::Job& job);

}  // namespace stepwright::tune
