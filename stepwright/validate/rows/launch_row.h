#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "stepwright/core/csv.h"
#include "stepwright/validate/rows/row_outcome.h"

namespace stepwright::validate {

/// Returns the columns of a table of launches that are read.
std::span<const std::string_view> launch_columns();

/// Predicts the memory of each row in a table of launches. A row has the command that started the
/// run (`launch`) or its configuration, the framework whose files it is (`target`), the `cluster`,
/// and the bytes that PyTorch's allocator counted after a step (`allocated_gib`) and at most
/// (`peak_gib`), on the last rank, or on the first if `stage` is `first`. `model`: the trained
/// model (a name or a mapping), if the command does not name it. There is one result for each of
/// the two quantities that is given. Rows whose command cannot be read are skipped with the
/// reader's reason.
std::vector<RowOutcome> predict_launches(const CsvTable& table, int threads);

}  // namespace stepwright::validate
