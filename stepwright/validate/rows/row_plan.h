#pragma once

#include <string>
#include <variant>
#include <vector>

#include "stepwright/plan/job.h"
#include "stepwright/validate/rows/run_row.h"

namespace stepwright::validate {

/// A row as a job with a plan, and what was assumed where the row is silent.
struct RowPlan {
  plan::PlannedJob planned;
  std::vector<std::string> notes;
};

/// The plan of a row, legal, or why there is none: the numbers of its columns with `job` and `plan`
/// laid over them, read as a plan file. What a row leaves out is that of a plan file, but for
/// sharding and sequence parallelism, which are those of its framework's recipes. With `of`, what
/// the row says of its job is laid over that one, whose model and cluster it may leave out.
std::variant<RowPlan, Skipped> row_plan(const RunRow& row, const plan::Job* of = nullptr);

}  // namespace stepwright::validate
