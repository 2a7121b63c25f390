#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stepwright/plan/job.h"

namespace stepwright::validate {

/// A cell of a row: the title of its column, and its text.
using RowCell = std::pair<std::string, std::string>;

/// Returns the cells that describe a user's own run: its job and plan completely, so that
/// `row_plan` returns an equal plan, and the outcome (`ok`, `oom`, `failed`). `seconds`: measured
/// seconds of a step; nullopt: not measured.
std::vector<RowCell> run_as_table_row(const plan::PlannedJob& planned, const std::string& id,
                                      const std::string& outcome, std::optional<double> seconds);

/// Returns a row as the next line of a table, with a line end. If `table` is empty, a header is put
/// before it; otherwise the order is that of the table's header. `name`: the table's name in
/// messages. Fails with `kInput` if the table lacks a column of the row, or is no table.
std::string row_line(const std::vector<RowCell>& row, const std::string& table,
                     const std::string& name);

}  // namespace stepwright::validate
