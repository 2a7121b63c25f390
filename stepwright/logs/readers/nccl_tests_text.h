#pragma once

#include <string>
#include <string_view>

#include "stepwright/core/csv.h"

namespace stepwright::logs {

/// Whether a text is what nccl-tests prints.
bool is_nccl_tests_text(std::string_view text);

/// The rows of a text that nccl-tests printed as a table of the second schema of
/// `read_collective_samples`, with the text's own line numbers: out-of-place times, sizes as
/// printed (the whole buffer), nodes and GPUs from the list of ranks. `name` stands for the file in
/// messages; the operation is what the text says, else what the name says (`all_reduce_perf.txt`).
/// Fails with `kInput` when the text names
/// no ranks or no operation, when ranks differ between nodes, or when a row has too few columns.
CsvTable read_nccl_tests_text(std::string_view text, const std::string& name);

}  // namespace stepwright::logs
