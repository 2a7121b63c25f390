#pragma once

#include <string>

#include "stepwright/study/compare.h"
#include "stepwright/study/study.h"

namespace stepwright::cli {

/// Returns one table for each panel: a row for each value of its axis, a column for each curve.
std::string study_text(const study::Study& study);

/// Returns a table that compares searches with different choices side by side.
std::string comparison_text(const study::SearchComparison& comparison);

}  // namespace stepwright::cli
