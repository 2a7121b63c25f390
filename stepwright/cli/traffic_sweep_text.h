#pragma once

#include <string>

#include "stepwright/answers/traffic_sweep.h"

namespace stepwright::cli {

/// Returns a table with a row for each value of the swept field, and bars for the bytes sent per
/// token.
std::string traffic_sweep_text(const answers::TrafficSweep& sweep);

}  // namespace stepwright::cli
