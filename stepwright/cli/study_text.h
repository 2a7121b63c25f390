#pragma once

#include <string>

#include "stepwright/study/compare.h"
#include "stepwright/study/study.h"

namespace stepwright::cli {

/// One table per panel: a row for each value of its axis, a column for each curve.
std::string study_text(const study::Study& study);

/// The choices side by side.
std::string comparison_text(const study::SearchComparison& comparison);

}  // namespace stepwright::cli
