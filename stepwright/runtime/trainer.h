#pragma once

#include <functional>

#include "stepwright/runtime/groups.h"
#include "stepwright/runtime/train_options.h"

namespace stepwright {

/// What a rank reports after a step; sums over all ranks.
struct StepReport {
  std::int64_t step = 0;  ///< From 1.
  double loss = 0;        ///< Mean over the tokens of the batch.
  double gradient_norm = 0;
  double learning_rate = 0;
  double time_s = 0;
  double tokens_per_s = 0;
  double memory_bytes = 0;  ///< The most that this rank had allocated at once.
};

/// Trains a plan as one rank of a world. `report` is called after each step on the rank that knows
/// the loss (the first of the last pipeline position). Fails with `kRuntime` when a rank is lost.
void train(const PlannedJob& planned, const TrainOptions& options, const Groups::World& world,
           const std::function<void(const StepReport&)>& report);

}  // namespace stepwright
