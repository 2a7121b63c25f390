#pragma once

#include <string>

#include "stepwright/answers/traffic_sweep.h"

namespace stepwright::cli {

/// Returns a table of communication volume with a row for each value of a swept setting, and bars
/// of the bytes sent per token.
std::string traffic_sweep_text(const answers::TrafficSweep& sweep);

}  // namespace stepwright::cli
