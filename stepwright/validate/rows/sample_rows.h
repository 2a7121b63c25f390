#pragma once

#include <string>
#include <vector>

#include "stepwright/core/csv.h"
#include "stepwright/validate/rows/row_outcome.h"

namespace stepwright::validate {

/// Predicts each row of a table of operator times, with one result for each measured pass.
/// `profile`: machine of all rows; empty: the column `cluster` or the row's GPU names it.
/// Unreadable rows, rows faster than the hardware's peak and rows in another unit are skipped.
/// Fails with `kInput` if no row has a machine or `profile` is unknown.
std::vector<TableRowOutcome> predict_operator_times(const CsvTable& table,
                                                    const std::string& profile);

/// Predicts each row of a table of collective times. Unreadable rows, and placements of ranks whose
/// rows contradict each other, are skipped.
std::vector<TableRowOutcome> predict_collective_times(const CsvTable& table,
                                                      const std::string& profile);

/// Predicts the message times that a user measured on the own cluster, with a profile (a file
/// `measured/1`) that was fitted to other measurements. Fails with `kInput` if `profile` is no such
/// file, or a row is malformed.
std::vector<TableRowOutcome> predict_own_message_times(const CsvTable& table,
                                                       const std::string& profile);

}  // namespace stepwright::validate
