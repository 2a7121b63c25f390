#pragma once

#include <string>
#include <vector>

#include "stepwright/core/csv.h"
#include "stepwright/validate/rows/row_outcome.h"

namespace stepwright::validate {

/// The outcome of each row of a table of operator samples: one result for each direction that it
/// measures, priced as one operator alone on the row's machine. `profile` names the machine of all
/// rows; empty: the column `cluster` does, or the row's GPU. Rows that are no measurement are
/// skipped: those that the reader refuses, those above a peak, those in another unit. Fails with
/// `kInput` when no row has a machine, or `profile` is none.
std::vector<RowOutcome> predict_operators(const CsvTable& table, const std::string& profile);

/// Predicts the rows of a table of collectives. Rows are skipped that the reader drops, and layouts
/// whose rows contradict each other.
std::vector<RowOutcome> predict_collectives(const CsvTable& table, const std::string& profile);

/// Predicts messages of a cluster's own samples (`kMessageSampleHeader`), by a measured profile (a
/// file `measured/1`) that was fitted to others. Fails with `kInput` when it is none, or a row is
/// not one.
std::vector<RowOutcome> predict_own_messages(const CsvTable& table, const std::string& profile);

}  // namespace stepwright::validate
