#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "stepwright/logs/log.h"

namespace stepwright {

/// The answer of `stepwright characterize --json` (docs/formats.md). `knee_bytes` stands for knees
/// that the log has no times for.
nlohmann::ordered_json characterize_json(const Log& log, std::optional<double> knee_bytes);

/// Calls below the knee of their operation (`small_calls`), for both.
nlohmann::ordered_json below_knee_json(const Log& log, std::optional<double> knee_bytes);

/// What became of each file, for that answer and for the one of `compare`.
nlohmann::ordered_json sources_json(const Log& log);

}  // namespace stepwright
