#pragma once

#include <string>
#include <variant>
#include <vector>

#include "stepwright/plan/job.h"
#include "stepwright/validate/rows/run_row.h"

namespace stepwright {

/// A row as a job with a plan, and what was assumed where the row is silent.
struct RowPlan {
  PlannedJob planned;
  std::vector<std::string> notes;
};

/// The plan of a row, legal, or why it cannot be expressed. With `of`, the model and the cluster of
/// a row that names none are those of that job.
std::variant<RowPlan, Skipped> row_plan(const RunRow& row, const Job* of = nullptr);

}  // namespace stepwright
