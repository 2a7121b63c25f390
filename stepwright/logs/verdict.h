#pragma once

#include <string>
#include <vector>

#include "stepwright/logs/match.h"

namespace stepwright::logs {

/// The differences between plan and log, the largest first, each with what most likely explains it:
/// gradients in another type, parameters gathered again or kept, an all-reduce where a plan shards,
/// a norm or loss that only one of them sums.
std::vector<std::string> explain_differences(const std::vector<MatchedCalls>& rows);

/// Calls that the plan lets run beside computation, and that hardly did where the log has times.
std::vector<std::string> missing_overlap(const std::vector<MatchedCalls>& rows);

}  // namespace stepwright::logs
