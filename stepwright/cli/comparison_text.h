#pragma once

#include <string>

#include "stepwright/logs/match.h"

namespace stepwright::cli {

/// Returns the comparison of a training log with the prediction for a plan, as text for people.
std::string log_comparison_text(const logs::LogPlanComparison& comparison,
                                const logs::CommunicationLog& log);

}  // namespace stepwright::cli
