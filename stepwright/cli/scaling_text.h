#pragma once

#include <string>

#include "stepwright/study/scaling.h"

namespace stepwright::cli {

/// A table for each operation and payload: a row for each number of nodes.
std::string scaling_text(const study::ScalingStudy& study);

}  // namespace stepwright::cli
