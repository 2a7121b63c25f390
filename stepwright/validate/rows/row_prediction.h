#pragma once

#include <variant>

#include "stepwright/cost/training_conditions.h"
#include "stepwright/validate/rows/row_outcome.h"
#include "stepwright/validate/rows/run_row.h"

namespace stepwright::validate {

/// Predicts the step time of the training run in a row and compares it with the measurement, or
/// returns the reason why the row is skipped.
std::variant<TableRowPrediction, SkippedRowReason> predict_row_step_time(
    const PublishedRunRow& row, const cost::TrainingConditions& conditions);

/// Returns the row's value for each key by which errors are grouped: source, device, framework,
/// scheme.
std::vector<std::string> error_group_keys_of_row(const PublishedRunRow& row,
                                                 const plan::PlannedJob& planned);

}  // namespace stepwright::validate
