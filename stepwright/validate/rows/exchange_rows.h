#pragma once

#include <string_view>

#include "stepwright/core/csv.h"
#include "stepwright/validate/rows/row_outcome.h"

namespace stepwright::validate {

/// True if a row gives the time of a dispatch to experts or a combine (`moe_dispatch`,
/// `moe_combine`).
bool times_exchange(const CsvTable& table, const CsvRow& row);

/// Predicts a dispatch or combine row with `cost::expert_exchange_s` and compares it with the
/// measured time. The column `extra` must give `tokens_per_rank`, `hidden`, `topk`, `experts` and
/// `sms` as KEY=NUMBER, separated by semicolons. Rows over several nodes and rows that lack one of
/// these are skipped.
RowOutcome predict_exchange(const CsvTable& table, const CsvRow& row);

}  // namespace stepwright::validate
