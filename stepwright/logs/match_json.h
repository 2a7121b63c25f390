#pragma once

#include <nlohmann/json_fwd.hpp>

#include "stepwright/logs/match.h"

namespace stepwright::logs {

/// Returns the part of the JSON document of `stepwright compare --json` that exists for every log
/// format (docs/formats.md).
nlohmann::ordered_json log_comparison_match_json(const LogPlanComparison& comparison,
                                                 const CommunicationLog& log);

/// Sum of compared calls of one scheme (kind of parallelism), operation and kind of group, over all
/// payloads.
struct SchemeCallTotals {
  PlannedAndLoggedCalls
      calls;  ///< Numbers and times, summed over all payloads; `payload_bytes` is 0.
  std::int64_t predicted_bytes = 0;
  std::int64_t logged_bytes = 0;
};
std::vector<SchemeCallTotals> by_scheme(const LogPlanComparison& comparison);

}  // namespace stepwright::logs
