#pragma once

#include <string>

#include "stepwright/study/scaling.h"

namespace stepwright::cli {

/// Returns the text of `stepwright study collectives`: a table for each operation and message size,
/// with a row for each number of nodes.
std::string collective_study_text(const study::CollectiveScalingStudy& study);

}  // namespace stepwright::cli
