#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stepwright/plan/job.h"

namespace stepwright::validate {

/// A cell of a table's row: the title of its column, and its text.
using RowCell = std::pair<std::string, std::string>;

/// Returns the cells of a table's row that describe a user's own run completely: job, plan and
/// outcome (`ok`, `oom`, `failed`); `job_and_plan_of_row` reads them back as an equal plan.
/// `seconds`: measured step time; nullopt: not measured.
std::vector<RowCell> run_to_table_row_cells(const plan::PlannedJob& planned, const std::string& id,
                                            const std::string& outcome,
                                            std::optional<double> seconds);

/// Returns a row as the next line of a CSV table, with a line end, its cells in the order of the
/// table's header. `table`: text of the table so far; empty: a header is put first; `name`: name of
/// the table in messages. Fails with `kInput` if the table lacks a column of the row, or is no
/// table.
std::string table_row_csv_line(const std::vector<RowCell>& row, const std::string& table,
                               const std::string& name);

}  // namespace stepwright::validate
