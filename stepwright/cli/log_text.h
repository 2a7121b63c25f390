#pragma once

#include <string>

#include "stepwright/logs/record.h"

namespace stepwright {

/// What `stepwright characterize` says of a log, for people.
std::string characterize_text(const Log& log);

/// What became of each file: format, lines, what was not explained, notes.
std::string sources_text(const Log& log);

}  // namespace stepwright
