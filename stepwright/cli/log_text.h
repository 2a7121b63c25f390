#pragma once

#include <string>
#include <vector>

#include "stepwright/logs/characterize.h"

namespace stepwright::cli {

/// The text of `stepwright characterize`, for people.
std::string characterize_text(const logs::Characterization& of);

/// A line for each file of a log: format, lines, what was not explained, notes.
std::string sources_text(const std::vector<logs::LogSource>& sources);

}  // namespace stepwright::cli
