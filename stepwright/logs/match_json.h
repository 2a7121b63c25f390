#pragma once

#include <nlohmann/json_fwd.hpp>

#include "stepwright/logs/match.h"

namespace stepwright::logs {

/// The keys of `stepwright compare --json` that any log has (docs/formats.md).
nlohmann::ordered_json match_json(const LogComparison& comparison, const Log& log);

/// Rows of a comparison that differ in payload alone.
struct SchemeSum {
  MatchedCalls calls;  ///< Their payload is 0.
  std::int64_t predicted_bytes = 0;
  std::int64_t logged_bytes = 0;
};
std::vector<SchemeSum> by_scheme(const LogComparison& comparison);

}  // namespace stepwright::logs
