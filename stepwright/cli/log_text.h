#pragma once

#include <optional>
#include <string>

#include "stepwright/logs/log.h"

namespace stepwright {

/// What `stepwright characterize` says of a log, for people; `knee_bytes` as in `small_calls`.
std::string characterize_text(const Log& log, std::optional<double> knee_bytes);

/// What became of each file: format, lines, what was not explained, notes.
std::string sources_text(const Log& log);

}  // namespace stepwright
