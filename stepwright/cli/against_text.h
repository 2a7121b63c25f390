#pragma once

#include <string>
#include <vector>

#include "stepwright/tune/against.h"

namespace stepwright::cli {

/// Returns a table of changes to a plan, in the order in which they are made. `in_files`: for each
/// change, its settings in the option names of the user's own files, shown as the first column;
/// empty: the table has no such column.
std::string changes_text(const std::vector<tune::Change>& changes,
                         const std::vector<std::vector<std::string>>& in_files = {});

/// Returns the text that `tune --against` prints below its answer: the user's plan, its faults, and
/// the changes that make it faster.
std::string user_plan_comparison_text(const tune::TuneResult& result,
                                      const tune::UserPlanComparison& against);

}  // namespace stepwright::cli
