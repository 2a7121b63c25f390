#pragma once

#include <string>
#include <vector>

#include "stepwright/logs/match.h"

namespace stepwright::logs {

/// Returns the differences between planned and logged calls, the largest first, each with its most
/// likely cause: gradients of another type, parameters gathered again or kept, an all-reduce where
/// the plan shards, a norm or loss that only the plan or only the log has.
std::vector<std::string> explain_call_differences(const std::vector<PlannedAndLoggedCalls>& rows);

/// Returns one line for each kind of calls that the plan lets overlap with computation, but that
/// hardly overlapped by the times in the log.
std::vector<std::string> exposed_message_notes(const std::vector<PlannedAndLoggedCalls>& rows);

}  // namespace stepwright::logs
