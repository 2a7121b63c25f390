#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>

#include "stepwright/packing/largest_of.h"
#include "stepwright/plan/job.h"
#include "stepwright/schedule/turn_play.h"
#include "stepwright/simulate/price/schedule_store.h"

namespace stepwright::simulate {

/// Extra seconds of the busiest pipeline rank for one micro-batch (forward and backward) with more
/// query-key pairs (`pairs`) or tokens (`tokens`), divided by the relative increase.
struct MicroBatchGrowthSeconds {
  double pairs = 0;
  double tokens = 0;
};

/// Expected waits in a step with micro-batches of unequal work, and the spread of its time,
/// compared to a step in which every micro-batch is the mean one.
struct UnevenMicroBatchWaits {
  /// Expected seconds in which ranks wait for the slowest rank and pipeline ranks for each other,
  /// because micro-batches differ.
  double waits_s = 0;
  /// 10 % quantile of the step time less the expected step time, in seconds (negative).
  double low_s = 0;
  double high_s = 0;  ///< 90 % quantile of the step time less the expected step time, in seconds.
};

/// Computes the waits in steps with micro-batches of unequal work. Data-parallel ranks wait for the
/// slowest at the end of a step, or in every micro-batch if they gather parameters, reduce
/// gradients or share experts. For a pipeline, turns are simulated with seeded random sizes.
/// Results are cached.
class UnevenMicroBatchWaitModel {
 public:
  UnevenMicroBatchWaitModel(const plan::Job& job, std::shared_ptr<SimulatedScheduleCache> schedules)
      : job_(job), schedules_(std::move(schedules)) {}

  /// Returns the expected waits and the spread of step times of a plan whose job has documents.
  UnevenMicroBatchWaits expected_waits_of_plan(const plan::Plan& plan,
                                               const MicroBatchGrowthSeconds& seconds);

 private:
  /// Mean and variance, over random micro-batch sizes, of the extra time of a pipeline compared to
  /// equal micro-batches, in standard deviations of one micro-batch's time.
  struct PipelineMakespanExcess {
    double mean = 0;
    double variance = 0;
  };
  struct Key {
    SimulatedScheduleCache::SimulatedScheduleKey schedule;
    std::int64_t skew_steps = 0;
    auto operator<=>(const Key&) const = default;
  };
  PipelineMakespanExcess makespan(const plan::Plan& plan, double skewness);
  PipelineMakespanExcess played(const Key& key);
  [[nodiscard]] double dealt(const plan::Plan& plan, double skewness) const;
  /// Returns the distribution of the largest of `count` random sizes
  /// (`packing::maximum_distribution`), cached; the reference is valid as long as this object.
  const packing::MaximumDistribution& maximum_distribution(std::int64_t count, double skewness,
                                                           double most);

  const plan::Job& job_;
  std::shared_ptr<SimulatedScheduleCache> schedules_;
  schedule::ScheduleTurnSimulator player_;
  std::map<Key, PipelineMakespanExcess> known_;
  std::map<std::tuple<std::int64_t, double, double>, packing::MaximumDistribution> largest_;
};

}  // namespace stepwright::simulate
