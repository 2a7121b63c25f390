#pragma once

#include <string>

#include "stepwright/logs/match.h"

namespace stepwright::cli {

/// A log beside a plan, for people.
std::string comparison_text(const logs::LogComparison& comparison, const logs::Log& log);

}  // namespace stepwright::cli
