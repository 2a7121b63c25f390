#pragma once

#include <string>

#include "stepwright/study/compare.h"
#include "stepwright/study/study.h"

namespace stepwright::cli {

/// Returns the tables of a study, one for each panel: a row for each value on the panel's axis, a
/// column for each curve.
std::string study_tables_text(const study::StudyCharts& study);

/// Returns a table of the plans that different searches choose for a job: `tune`, a rule of thumb,
/// and a search like Alpa's.
std::string search_comparison_text(const study::SearchMethodComparison& comparison);

}  // namespace stepwright::cli
