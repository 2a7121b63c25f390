#pragma once

#include <string>
#include <vector>

#include "stepwright/tune/against.h"

namespace stepwright::cli {

/// Returns a table of changes to a plan, in the order in which they are made. `in_files`: for each
/// change, the settings to edit in the user's own framework files, shown as the first column;
/// empty: the table has no such column.
std::string plan_changes_table(const std::vector<tune::PlanChange>& changes,
                               const std::vector<std::vector<std::string>>& in_files = {});

/// Returns the section that `stepwright tune --against` prints last: the user's plan, its faults,
/// and the changes that make it faster.
std::string user_plan_comparison_text(const tune::TuneResult& result,
                                      const tune::UserPlanComparison& against);

}  // namespace stepwright::cli
