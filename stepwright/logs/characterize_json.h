#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "stepwright/logs/characterize.h"

namespace stepwright::logs {

/// Returns the answer of `stepwright characterize --json` (docs/formats.md).
nlohmann::ordered_json characterize_json(const Characterization& of);

/// Returns the calls below the knee of their operation, for the answers of `characterize` and
/// `compare`.
nlohmann::ordered_json below_knee_json(const std::vector<SmallCalls>& calls);

/// Returns what was read from each log file, for the answers of `characterize` and `compare`.
nlohmann::ordered_json sources_json(const std::vector<LogSource>& sources);

}  // namespace stepwright::logs
