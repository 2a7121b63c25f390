#pragma once

#include <cstdint>
#include <memory>

#include "stepwright/simulate/price/schedule_store.h"

namespace stepwright::simulate {

/// Micro-batches of a pipeline that are played, in multiples of its stages or, where micro-batches
/// come in groups, of a group. What comes after is
/// steady: each further micro-batch takes as long as those of the last round did in the mean.
inline constexpr std::int64_t kPlayedRounds = 8;

/// Micro-batches times chunks of the model that are played in full at most: some milliseconds.
inline constexpr std::int64_t kMostPlayedTurns = 40'000;

/// Plays schedules for the pricer. Not shared between threads, as its schedules may be.
class PlayedPipeline {
 public:
  explicit PlayedPipeline(std::shared_ptr<ScheduleStore> schedules)
      : schedules_(std::move(schedules)) {}

  /// Turns that wait for their backward in at most `kPlayedRounds` rounds.
  std::shared_ptr<const WaitingTurns> waiting(const plan::Plan& plan, std::int64_t micro_batches);

  /// Seconds of `micro_batches` through the pipeline of a plan.
  double seconds(const plan::Plan& plan, std::int64_t micro_batches,
                 const schedule::TurnSeconds& seconds);
  /// Seconds of the pipeline with every turn played.
  double every_s(const plan::Plan& plan, std::int64_t micro_batches,
                 const schedule::TurnSeconds& seconds);

 private:
  std::shared_ptr<ScheduleStore> schedules_;
  schedule::TurnPlayer player_;
};

}  // namespace stepwright::simulate
