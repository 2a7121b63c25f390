#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "stepwright/logs/characterize.h"

namespace stepwright::logs {

/// Returns the JSON document of `stepwright characterize --json` (docs/formats.md).
nlohmann::ordered_json communication_summary_json(const LoggedCommunicationSummary& of);

/// Returns the JSON list of calls whose payload is below the knee (where latency takes more time
/// than bandwidth), for `characterize` and `compare`.
nlohmann::ordered_json latency_dominated_calls_json(
    const std::vector<LatencyDominatedCalls>& calls);

/// Returns the JSON list of what was read from each log file, for `characterize` and `compare`.
nlohmann::ordered_json log_sources_json(const std::vector<LogFileReadResult>& sources);

}  // namespace stepwright::logs
