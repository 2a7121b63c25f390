#pragma once

#include <nlohmann/json_fwd.hpp>

#include "stepwright/logs/match.h"

namespace stepwright::logs {

/// Returns the part of the JSON document of `stepwright compare --json` that exists for logs of
/// every format (docs/formats.md).
nlohmann::ordered_json log_comparison_match_json(const LogPlanComparison& comparison,
                                                 const CommunicationLog& log);

/// Predicted and logged calls of one kind of parallelism (scheme), operation and kind of group,
/// summed over all payloads.
struct SchemeCallTotals {
  /// Numbers and times of the calls, summed over all payloads; the member `payload_bytes` is 0.
  PlannedAndLoggedCalls calls;
  std::int64_t predicted_bytes = 0;
  std::int64_t logged_bytes = 0;
};
std::vector<SchemeCallTotals> by_scheme(const LogPlanComparison& comparison);

}  // namespace stepwright::logs
