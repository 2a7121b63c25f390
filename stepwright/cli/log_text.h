#pragma once

#include <string>
#include <vector>

#include "stepwright/logs/characterize.h"

namespace stepwright {

/// What `stepwright characterize` says of a log, for people.
std::string characterize_text(const Characterization& of);

/// What became of each file: format, lines, what was not explained, notes.
std::string sources_text(const std::vector<LogSource>& sources);

}  // namespace stepwright
