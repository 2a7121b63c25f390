#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stepwright/plan/job.h"

namespace stepwright::validate {

/// A cell of a row by the title of its column.
using RowCell = std::pair<std::string, std::string>;

/// The cells of a person's own run: all of its job and plan, so that `row_plan` gives back an equal
/// plan, and its outcome (`ok`, `oom`, `failed`). `seconds`: of a step; nullopt: not measured.
std::vector<RowCell> written_row(const plan::PlannedJob& planned, const std::string& id,
                                 const std::string& outcome, std::optional<double> seconds);

/// A row as the next line of a table, with line ends: of an empty `table` behind a header of its
/// own, else in the order of that table's header. `name` stands for the table in messages. Fails
/// with `kInput` when the table lacks a column that the row fills, or is none.
std::string row_line(const std::vector<RowCell>& row, const std::string& table,
                     const std::string& name);

}  // namespace stepwright::validate
