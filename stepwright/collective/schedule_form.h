#pragma once

#include <optional>
#include <string>

#include "stepwright/collective/proof.h"

namespace stepwright::collective {

/// The first step of a rank that names something that does not exist, or writes to its input.
/// `ranks`: of the schedule; the defect's rank is left open.
std::optional<Defect> malformed(const CollectiveSchedule& frame, const RankSchedule& rank,
                                std::int32_t ranks);

/// "piece 3 of its output".
std::string place_text(PieceRun place);

}  // namespace stepwright::collective
