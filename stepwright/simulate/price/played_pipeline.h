#pragma once

#include <cstdint>
#include <memory>

#include "stepwright/simulate/price/schedule_store.h"

namespace stepwright::simulate {

/// Rounds of micro-batches that are simulated. A round has as many micro-batches as the pipeline
/// has stages or, where micro-batches come in groups, as a group. Later rounds are taken as steady:
/// each further micro-batch takes the mean time of a micro-batch of the last round.
inline constexpr std::int64_t kMaxSimulatedRounds = 8;

/// Most micro-batches times chunks of the model for which every turn is simulated: some
/// milliseconds.
inline constexpr std::int64_t kMaxSimulatedTurns = 40'000;

/// Simulates schedules for the pricer, turn by turn. Not shared between threads, but its
/// `ScheduleStore` may be.
class PipelineSimulator {
 public:
  explicit PipelineSimulator(std::shared_ptr<ScheduleStore> schedules)
      : schedules_(std::move(schedules)) {}

  /// Returns the turns that wait for their backward, by position, in at most `kMaxSimulatedRounds`
  /// rounds.
  std::shared_ptr<const WaitingTurns> waiting(const plan::Plan& plan, std::int64_t micro_batches);

  /// Returns the seconds of `micro_batches` micro-batches through the pipeline of a plan.
  double seconds(const plan::Plan& plan, std::int64_t micro_batches,
                 const schedule::TurnSeconds& seconds);
  /// Returns the seconds of the pipeline with every turn simulated.
  double every_s(const plan::Plan& plan, std::int64_t micro_batches,
                 const schedule::TurnSeconds& seconds);

 private:
  std::shared_ptr<ScheduleStore> schedules_;
  schedule::TurnSimulator player_;
};

}  // namespace stepwright::simulate
