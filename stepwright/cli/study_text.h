#pragma once

#include <string>

#include "stepwright/study/compare.h"
#include "stepwright/study/study.h"

namespace stepwright {

/// One table per panel: a row for each value of its axis, a column for each curve.
std::string study_text(const Study& study);

/// The choices side by side.
std::string comparison_text(const SearchComparison& comparison);

}  // namespace stepwright
