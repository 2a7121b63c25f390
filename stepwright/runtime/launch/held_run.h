#pragma once

#include <string>

#include "stepwright/plan/job.h"
#include "stepwright/runtime/launch/rank_frame.h"
#include "stepwright/runtime/messages/groups.h"
#include "stepwright/runtime/train_options.h"

namespace stepwright::runtime {

/// Runs one rank of a held run of a plan: every message is sent, every computation is replaced by
/// its time in the file `times` (docs/emulation.md). `report` as in `train`. Fails with `kRuntime`
/// when a rank is lost.
void run_emulated_rank(const plan::PlannedJob& planned, const TrainOptions& options,
                       const std::string& times, const Groups::World& world,
                       const Reporter& report);

}  // namespace stepwright::runtime
