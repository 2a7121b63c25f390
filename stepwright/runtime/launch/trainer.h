#pragma once

#include <functional>
#include <string>

#include "stepwright/runtime/launch/rank_frame.h"
#include "stepwright/runtime/measure/step_summary.h"
#include "stepwright/runtime/messages/groups.h"
#include "stepwright/runtime/train_options.h"

namespace stepwright::runtime {

/// Callbacks of a training run. `step` and `end` are called on the one rank that knows the loss:
/// the first rank of the pipeline stage with the output head.
struct TrainCallbacks {
  Reporter step;  ///< Called after each training step.
  /// Called after the last step if operators were timed, with measured and predicted times.
  std::function<void(const StepTimeSummary&)> end;
  /// Called on rank 0 before the first step, with a note for people.
  std::function<void(const std::string&)> note;
};

/// Trains a plan as one rank of a run. `times`: file of predicted operator times, beside which
/// operators are timed; empty, or on a GPU: operators are not timed. Fails with `kRuntime` if a
/// rank is lost.
void train(const plan::PlannedJob& planned, const TrainOptions& options, const std::string& times,
           const RankCommunicators::RankWorld& world, const TrainCallbacks& reports);

}  // namespace stepwright::runtime
