#pragma once

#include <string>
#include <vector>

#include "stepwright/core/csv.h"
#include "stepwright/validate/rows/row_outcome.h"

namespace stepwright::validate {

/// Predicts each row of a table of operator samples: one result for each measured direction, priced
/// as a single operator on the row's machine. `profile`: machine of all rows; empty: the column
/// `cluster` names it, or the row's GPU. Skipped are rows that the reader refuses, rows above a
/// hardware peak, and rows in another unit. Fails with `kInput` if no row has a machine, or
/// `profile` is unknown.
std::vector<RowOutcome> predict_operators(const CsvTable& table, const std::string& profile);

/// Predicts each row of a table of collectives. Skipped are rows that the reader drops, and layouts
/// whose rows contradict each other.
std::vector<RowOutcome> predict_collectives(const CsvTable& table, const std::string& profile);

/// Predicts messages in a cluster's own samples (`kMessageSampleHeader`) with a measured profile (a
/// file `measured/1`) that was fitted to other samples. Fails with `kInput` if `profile` is no such
/// file, or a row is no such sample.
std::vector<RowOutcome> predict_own_messages(const CsvTable& table, const std::string& profile);

}  // namespace stepwright::validate
