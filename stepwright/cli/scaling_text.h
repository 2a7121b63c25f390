#pragma once

#include <string>

#include "stepwright/study/scaling.h"

namespace stepwright {

/// A table for each operation and payload: a row for each number of nodes.
std::string scaling_text(const ScalingStudy& study);

}  // namespace stepwright
