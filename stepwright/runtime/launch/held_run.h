#pragma once

#include <string>

#include "stepwright/plan/job.h"
#include "stepwright/runtime/launch/rank_frame.h"
#include "stepwright/runtime/messages/groups.h"
#include "stepwright/runtime/train_options.h"

namespace stepwright::runtime {

/// Runs one rank of an emulated training run: messages are really sent, and each computation is
/// replaced by a sleep for its predicted time, read from the file `times` (docs/emulation.md).
/// `report` is called after each step on one rank. Fails with `kRuntime` if a rank is lost.
void run_emulated_rank(const plan::PlannedJob& planned, const TrainOptions& options,
                       const std::string& times, const RankCommunicators::RankWorld& world,
                       const Reporter& report);

}  // namespace stepwright::runtime
