#pragma once

#include "stepwright/runtime/groups.h"
#include "stepwright/runtime/rank_frame.h"
#include "stepwright/runtime/train_options.h"

namespace stepwright {

/// Trains a plan as one rank of a world. `report` is called after each step on the rank that knows
/// the loss (the first of the last pipeline position). Fails with `kRuntime` when a rank is lost.
void train(const PlannedJob& planned, const TrainOptions& options, const Groups::World& world,
           const Reporter& report);

}  // namespace stepwright
