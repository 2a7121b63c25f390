#pragma once

#include <string>

#include "stepwright/answers/traffic_sweep.h"

namespace stepwright::cli {

/// A table with a row for each value, bars for the bytes of a token.
std::string traffic_sweep_text(const answers::TrafficSweep& sweep);

}  // namespace stepwright::cli
