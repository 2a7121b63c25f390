#pragma once

#include <string_view>

#include "stepwright/core/csv.h"
#include "stepwright/validate/rows/row_outcome.h"

namespace stepwright::validate {

/// True if a row measures an exchange of tokens with experts: a dispatch or a combine
/// (`moe_dispatch`, `moe_combine`).
bool measures_expert_exchange(const CsvTable& table, const CsvRow& row);

/// Predicts a row that measures a dispatch to experts or a combine, and compares it with the
/// measured time. The column `extra` must state `tokens_per_rank`, `hidden`, `topk`, `experts` and
/// `sms` as KEY=NUMBER, separated by semicolons. Rows over several nodes and incomplete rows are
/// skipped.
TableRowOutcome predict_expert_exchange(const CsvTable& table, const CsvRow& row);

}  // namespace stepwright::validate
