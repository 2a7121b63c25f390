#pragma once

#include <optional>

#include "stepwright/collective/proof.h"

namespace stepwright::collective {

/// The first step that reads what is not written, or that touches a piece in no order with another
/// step, by the rank's own channels and waits; or waits that go in a circle. Vector clocks over the
/// channels, as race detectors use them (Flanagan and Freund 2009, FastTrack). `rank` is not
/// malformed.
std::optional<Defect> disordered(const CollectiveSchedule& frame, const RankSchedule& rank);

}  // namespace stepwright::collective
