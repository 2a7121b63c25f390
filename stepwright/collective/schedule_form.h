#pragma once

#include <optional>
#include <string>

#include "stepwright/collective/proof.h"

namespace stepwright::collective {

/// Returns the first step of a rank that refers to something that does not exist, or writes to the
/// rank's input; nullopt: none. `ranks`: number of ranks of the schedule. The defect's rank is not
/// set.
std::optional<ScheduleDefect> first_malformed_step(const CollectiveSchedule& frame,
                                                   const RankSchedule& rank, std::int32_t ranks);

/// Describes a place in a rank's memory: "piece 3 of its output".
std::string piece_position_text(PieceRun place);

}  // namespace stepwright::collective
