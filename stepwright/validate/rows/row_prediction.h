#pragma once

#include <variant>

#include "stepwright/cost/training_conditions.h"
#include "stepwright/validate/rows/row_outcome.h"
#include "stepwright/validate/rows/run_row.h"

namespace stepwright::validate {

/// A training run predicted: the seconds of its step.
std::variant<RowResult, Skipped> predict_run(const RunRow& row,
                                             const cost::TrainingConditions& conditions);

/// The words of a row by which errors are grouped: source, device, framework, scheme.
std::vector<std::string> row_groups(const RunRow& row, const plan::PlannedJob& planned);

}  // namespace stepwright::validate
