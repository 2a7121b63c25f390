#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "stepwright/plan/plan.h"
#include "stepwright/schedule/facts.h"
#include "stepwright/schedule/turn_play.h"

namespace stepwright::simulate {

/// Entries (forward or backward of a chunk) of a pipeline schedule for given numbers of stages and
/// micro-batches, in order.
struct CachedScheduleTurns {
  schedule::ModelChunkPlacement placement;
  /// Turns (forward or backward of a chunk) by pipeline rank; with one strand, no turn has both.
  std::vector<schedule::Turns> turns;
  schedule::ScheduleTurnOrder order;
};

/// Chunks of a schedule whose activations wait for their backward, at the moments at which most
/// wait on each pipeline rank (candidates for its memory peak).
struct FullestScheduleMoments {
  std::vector<std::vector<schedule::WaitingMicroBatches>> fullest;
  std::vector<std::int64_t> trailing_weight_gradients;
};

/// Cache of schedules that are simulated, each built once, for any number of threads. When it gets
/// too large, all are dropped; pointers returned before stay valid.
class SimulatedScheduleCache {
 public:
  /// Identifies a simulated schedule: the schedule with its numbers of stages and micro-batches.
  struct SimulatedScheduleKey {
    schedule::PipelineSchedule schedule;
    std::int64_t stages = 1;
    std::int64_t micro_batches = 1;
    auto operator<=>(const SimulatedScheduleKey&) const = default;
  };
  std::shared_ptr<const CachedScheduleTurns> turns(const SimulatedScheduleKey& key);
  /// Returns, for each pipeline rank of a schedule, the moments at which most chunks wait for their
  /// backward.
  std::shared_ptr<const FullestScheduleMoments> schedule_moments_of_peak_activations(
      const SimulatedScheduleKey& key);

 private:
  struct Entry {
    std::mutex mutex;  ///< Lock held by the thread that computes the members of this cache entry.
    std::shared_ptr<const CachedScheduleTurns> turns;
    std::shared_ptr<const FullestScheduleMoments> fullest_schedule_moments;
  };
  std::shared_ptr<Entry> entry(const SimulatedScheduleKey& key);

  std::mutex mutex_;
  std::map<SimulatedScheduleKey, std::shared_ptr<Entry>> entries_;
  std::int64_t turns_ = 0;  ///< Number of schedule entries that all cached schedules hold together.
};

}  // namespace stepwright::simulate
