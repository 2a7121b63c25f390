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

/// How much longer the busiest position takes for one micro-batch (forward and backward) with more
/// query-key pairs of documents (`pairs`) and with more tokens (`tokens`), over the relative
/// increase (`token_growth.h`).
struct MicroBatchSeconds {
  double pairs = 0;
  double tokens = 0;
};

/// Expected waits and the spread of the time of a step with unequal micro-batches, compared to a
/// step in which all micro-batches are the mean one.
struct UnevenStepWaits {
  /// Expected seconds of waiting: ranks wait for the slowest rank, positions for each other.
  double waits_s = 0;
  double low_s = 0;   ///< One step of ten is shorter by more seconds than this.
  double high_s = 0;  ///< One step of ten is longer by more seconds than this.
};

/// Computes the waits of steps with unequal micro-batches. Data-parallel ranks wait for the slowest
/// at the end of a step; ranks that gather parameters, reduce gradients in every backward or share
/// experts wait for each other in every micro-batch. On a pipeline the chain of waits follows its
/// turns: they are simulated with seeded random sizes. Results are remembered.
class UnevenSteps {
 public:
  UnevenSteps(const plan::Job& job, std::shared_ptr<ScheduleStore> schedules)
      : job_(job), schedules_(std::move(schedules)) {}

  /// Returns the waits and spread of a plan whose job has documents.
  UnevenStepWaits of(const plan::Plan& plan, const MicroBatchSeconds& seconds);

 private:
  /// How much longer a pipeline takes than with equal micro-batches, in standard deviations of one
  /// micro-batch.
  struct Makespan {
    double mean = 0;
    double variance = 0;
  };
  struct Key {
    ScheduleStore::Key schedule;
    std::int64_t skew_steps = 0;
    auto operator<=>(const Key&) const = default;
  };
  Makespan makespan(const plan::Plan& plan, double skewness);
  Makespan played(const Key& key);
  [[nodiscard]] double dealt(const plan::Plan& plan, double skewness) const;
  /// Returns `packing::largest_of`, computed once; the reference is valid as long as this object.
  const packing::Largest& largest_of(std::int64_t count, double skewness, double most);

  const plan::Job& job_;
  std::shared_ptr<ScheduleStore> schedules_;
  schedule::TurnSimulator player_;
  std::map<Key, Makespan> known_;
  std::map<std::tuple<std::int64_t, double, double>, packing::Largest> largest_;
};

}  // namespace stepwright::simulate
