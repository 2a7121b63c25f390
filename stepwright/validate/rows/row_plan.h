#pragma once

#include <string>
#include <variant>
#include <vector>

#include "stepwright/plan/job.h"
#include "stepwright/validate/rows/run_row.h"

namespace stepwright::validate {

/// The job and plan of a table's row, and notes about what was assumed for values that the row
/// lacks.
struct TableRowPlan {
  plan::PlannedJob planned;
  std::vector<std::string> notes;
};

/// Converts a row into a job with a legal plan, or returns the reason why that is impossible.
/// Numbers in columns are read first, then the cells `job` and `plan` override them. Absent values
/// get the defaults of plan files; sharding and sequence parallelism those of the framework's
/// recipe. `of`: job that provides what the row lacks; null: none.
std::variant<TableRowPlan, SkippedRowReason> job_and_plan_of_row(const PublishedRunRow& row,
                                                                 const plan::Job* of = nullptr);

}  // namespace stepwright::validate
