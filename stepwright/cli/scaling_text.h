#pragma once

#include <string>

#include "stepwright/study/scaling.h"

namespace stepwright::cli {

/// Returns a table for each operation and payload, with a row for each number of nodes.
std::string scaling_text(const study::ScalingStudy& study);

}  // namespace stepwright::cli
