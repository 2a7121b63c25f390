#pragma once

#include <string>

#include "stepwright/logs/match.h"

namespace stepwright {

/// A log beside a plan, for people.
std::string comparison_text(const LogComparison& comparison, const Log& log);

}  // namespace stepwright
