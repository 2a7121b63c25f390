#pragma once

#include <cstdint>
#include <memory>

#include "stepwright/simulate/price/schedule_store.h"

namespace stepwright::simulate {

/// Largest number of rounds of micro-batches that are simulated. A round is as many micro-batches
/// as the pipeline has stages (or as a group has, if each chunk runs groups of micro-batches). In
/// later rounds each micro-batch takes the mean time of those in the last simulated round.
inline constexpr std::int64_t kMaxSimulatedMicroBatchRounds = 8;

/// Largest number of turns (micro-batches times chunks of the model) for which a schedule is
/// simulated completely; this takes some milliseconds.
inline constexpr std::int64_t kMaxSimulatedPipelineTurns = 40'000;

/// Simulates pipeline schedules turn by turn for closed-form prices. Not shared between threads,
/// but its `SimulatedScheduleCache` may be.
class PipelineSimulator {
 public:
  explicit PipelineSimulator(std::shared_ptr<SimulatedScheduleCache> schedules)
      : schedules_(std::move(schedules)) {}

  /// Returns, for each pipeline rank, the moments at which most micro-batches wait for their
  /// backward (the candidates for its memory peak), from at most `kMaxSimulatedMicroBatchRounds`
  /// rounds of micro-batches.
  std::shared_ptr<const FullestScheduleMoments> schedule_moments_of_peak_activations(
      const plan::Plan& plan, std::int64_t micro_batches);

  /// Returns the seconds that `micro_batches` micro-batches take through the pipeline of a plan.
  /// `seconds`: those of its forwards, backwards and messages. Rounds after
  /// `kMaxSimulatedMicroBatchRounds` are extrapolated.
  double seconds_of_pipeline(const plan::Plan& plan, std::int64_t micro_batches,
                             const schedule::PipelineScheduleSeconds& seconds);
  /// Returns the seconds that `micro_batches` micro-batches take through the pipeline of a plan,
  /// with every micro-batch simulated. `seconds`: those of its forwards, backwards and messages.
  double simulated_pipeline_s(const plan::Plan& plan, std::int64_t micro_batches,
                              const schedule::PipelineScheduleSeconds& seconds);

 private:
  std::shared_ptr<SimulatedScheduleCache> schedules_;
  schedule::ScheduleTurnSimulator player_;
};

}  // namespace stepwright::simulate
