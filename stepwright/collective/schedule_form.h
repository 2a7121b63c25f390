#pragma once

#include <optional>
#include <string>

#include "stepwright/collective/proof.h"

namespace stepwright::collective {

/// Returns the first step of a rank that names something that does not exist, or writes to the
/// rank's input; nullopt: there is none. `ranks`: number of ranks of the schedule. The defect's
/// rank is left unset.
std::optional<CollectiveScheduleDefect> first_malformed_step(const CollectiveSchedule& frame,
                                                             const RankCollectiveSchedule& rank,
                                                             std::int32_t ranks);

/// Returns text for messages about a piece of a rank's memory: "piece 3 of its output".
std::string piece_location_text(PieceRunStart place);

}  // namespace stepwright::collective
