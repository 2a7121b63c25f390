#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "stepwright/core/csv.h"
#include "stepwright/validate/rows/row_outcome.h"

namespace stepwright::validate {

/// The columns of launches that are read.
std::span<const std::string_view> launch_columns();

/// The outcome of each row of a table of launches: runs as the command that started them
/// (`launch`) or its configuration, of the framework whose files `target` reads, on `cluster`, with
/// what PyTorch's allocator counted on the last rank, or on the first one where `stage` is `first`:
/// after a step (`allocated_gib`), and at most (`peak_gib`). `model`, a name or a mapping, is what
/// is trained where the command does not say. One result for each quantity that is there. Rows are
/// skipped whose command is not read, with the reason of the reader.
std::vector<RowOutcome> predict_launches(const CsvTable& table, int threads);

}  // namespace stepwright::validate
