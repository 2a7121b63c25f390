#pragma once

#include <string>
#include <variant>
#include <vector>

#include "stepwright/plan/job.h"
#include "stepwright/validate/rows/run_row.h"

namespace stepwright::validate {

/// A row converted to a job with a plan, and the assumptions for values that the row lacks.
struct RowPlan {
  plan::PlannedJob planned;
  std::vector<std::string> notes;
};

/// Converts a row into a legal plan, or returns the reason why that is impossible. The numbers of
/// the row's columns are read as a plan file, with the cells `job` and `plan` laid over them.
/// Absent values have the defaults of plan files, except sharding and sequence parallelism, which
/// come from the framework's recipe. `of`: a job over which the row's job is laid, so that the row
/// may lack model and cluster; null: none.
std::variant<RowPlan, Skipped> row_plan(const RunRow& row, const plan::Job* of = nullptr);

}  // namespace stepwright::validate
