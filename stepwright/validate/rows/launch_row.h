#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "stepwright/core/csv.h"
#include "stepwright/validate/rows/row_outcome.h"

namespace stepwright::validate {

/// Returns the names of the columns that a table of launch commands with measured memory may have.
std::span<const std::string_view> launch_table_columns();

/// Predicts the memory of each row in a table of launch commands. A row has the command (`launch`)
/// or its configuration, the framework (`target`), the `cluster`, and the bytes that PyTorch's
/// allocator counted after a step (`allocated_gib`) and at the peak (`peak_gib`), on the last rank
/// (the first if `stage` is `first`). Each of these two numbers gives a result. Rows whose command
/// cannot be read are skipped.
std::vector<TableRowOutcome> predict_launch_memory(const CsvTable& table, int threads);

}  // namespace stepwright::validate
