#pragma once

#include <string>
#include <vector>

#include "stepwright/logs/characterize.h"

namespace stepwright::cli {

/// Returns the text of `stepwright characterize`, for people.
std::string characterize_text(const logs::Characterization& of);

/// Returns a line for each log file: format, number of lines, unexplained lines, notes.
std::string sources_text(const std::vector<logs::LogSource>& sources);

}  // namespace stepwright::cli
