#pragma once

#include <string>
#include <vector>

#include "stepwright/logs/characterize.h"

namespace stepwright::cli {

/// Returns the text of `stepwright characterize`: what communication a log contains.
std::string log_communication_text(const logs::LoggedCommunicationSummary& of);

/// Returns lines about the log files that were read: the first lines of each that could not be
/// explained, and notes; empty: there are none.
std::string log_sources_text(const std::vector<logs::LogFileReadResult>& sources);

}  // namespace stepwright::cli
