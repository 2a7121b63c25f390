#pragma once

#include <functional>
#include <string>

#include "stepwright/runtime/launch/rank_frame.h"
#include "stepwright/runtime/measure/step_summary.h"
#include "stepwright/runtime/messages/groups.h"
#include "stepwright/runtime/train_options.h"

namespace stepwright::runtime {

/// Callbacks of a run; `step` and `end` are called on the rank that knows the loss (the first of
/// the position with the head).
struct TrainReports {
  Reporter step;  ///< Called after each step.
  /// Called after the last step, if operators were timed.
  std::function<void(const StepSummary&)> end;
  /// Called with a note for people before the first step, on rank 0.
  std::function<void(const std::string&)> note;
};

/// Trains a plan as one rank of a world. `times`: file of the predicted times of its operators;
/// empty: operators are not timed. They are not timed either on a device that runs asynchronously.
/// Fails with `kRuntime` when a rank is lost.
void train(const plan::PlannedJob& planned, const TrainOptions& options, const std::string& times,
           const Groups::World& world, const TrainReports& reports);

}  // namespace stepwright::runtime
