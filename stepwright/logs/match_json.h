#pragma once

#include <nlohmann/json_fwd.hpp>

#include "stepwright/logs/match.h"

namespace stepwright::logs {

/// Returns the keys of `stepwright compare --json` that every log format has (docs/formats.md).
nlohmann::ordered_json log_comparison_match_json(const LogComparison& comparison, const Log& log);

/// The sum of compared calls that differ only in payload: one scheme, operation and kind of group.
struct SchemeSum {
  MatchedCalls calls;  ///< Sum of the calls; its `payload_bytes` is 0.
  std::int64_t predicted_bytes = 0;
  std::int64_t logged_bytes = 0;
};
std::vector<SchemeSum> by_scheme(const LogComparison& comparison);

}  // namespace stepwright::logs
