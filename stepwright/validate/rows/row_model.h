#pragma once

#include <string>
#include <variant>

#include "stepwright/model/architecture.h"
#include "stepwright/validate/rows/run_row.h"

namespace stepwright {

/// The architecture of a row: sizes from its columns, switches from the family that the model's
/// name tells, experts from its `moe` remark. Skips models without sizes, hybrids of other layers,
/// and adapters (LoRA), whose frozen weights no builder covers.
std::variant<Architecture, Skipped> row_model(const RunRow& row);

}  // namespace stepwright
