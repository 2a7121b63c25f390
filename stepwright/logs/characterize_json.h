#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "stepwright/logs/characterize.h"

namespace stepwright::logs {

/// Returns the JSON document of `stepwright characterize --json` (docs/formats.md).
nlohmann::ordered_json characterize_json(const Characterization& of);

/// Returns the JSON list of calls whose payload is below the knee (where latency takes more time
/// than bandwidth), for `characterize` and `compare`.
nlohmann::ordered_json below_knee_json(const std::vector<SmallCalls>& calls);

/// Returns the JSON list of what was read from each log file, for `characterize` and `compare`.
nlohmann::ordered_json sources_json(const std::vector<LogSource>& sources);

}  // namespace stepwright::logs
