#pragma once

#include <string_view>

#include "stepwright/core/csv.h"
#include "stepwright/validate/rows/row_outcome.h"

namespace stepwright::validate {

/// True if a row times a dispatch to experts or a combine (`moe_dispatch`, `moe_combine`).
bool times_exchange(const CsvTable& table, const CsvRow& row);

/// The outcome of such a row: its time by `cost::expert_exchange_s` against the measured one. Its
/// column `extra` says `tokens_per_rank`, `hidden`, `topk`, `experts` and `sms` as KEY=NUMBER,
/// separated by semicolons. Skipped are rows over several nodes and rows without one of these.
RowOutcome predict_exchange(const CsvTable& table, const CsvRow& row);

}  // namespace stepwright::validate
