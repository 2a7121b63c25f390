#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "stepwright/logs/characterize.h"

namespace stepwright::logs {

/// The answer of `stepwright characterize --json` (docs/formats.md).
nlohmann::ordered_json characterize_json(const Characterization& of);

/// Calls below the knee of their operation, for that answer and for the one of `compare`.
nlohmann::ordered_json below_knee_json(const std::vector<SmallCalls>& calls);

/// The outcome of each file, for both.
nlohmann::ordered_json sources_json(const std::vector<LogSource>& sources);

}  // namespace stepwright::logs
