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

/// The turns of a schedule for one number of stages and of micro-batches.
struct PlayedSchedule {
  schedule::Placement placement;
  std::vector<schedule::Turns> turns;  ///< Turns by position; with one strand without pairs.
  schedule::TurnOrder order;
};

/// Turns of a schedule that wait for their backward, by position.
struct WaitingTurns {
  std::vector<std::vector<schedule::Moment>> fullest;
  std::vector<std::int64_t> weights_at_end;
};

/// Schedules that are played, each made once, for any number of threads; the oldest go when they
/// are too many, and what was handed out stays valid.
class ScheduleStore {
 public:
  /// A schedule of so many stages and micro-batches.
  struct Key {
    schedule::Schedule schedule;
    std::int64_t stages = 1;
    std::int64_t micro_batches = 1;
    auto operator<=>(const Key&) const = default;
  };
  std::shared_ptr<const PlayedSchedule> turns(const Key& key);
  /// Turns that wait for their backward in a schedule.
  std::shared_ptr<const WaitingTurns> waiting(const Key& key);

 private:
  struct Entry {
    std::mutex mutex;  ///< Held while the entry's parts are made.
    std::shared_ptr<const PlayedSchedule> turns;
    std::shared_ptr<const WaitingTurns> waiting;
  };
  std::shared_ptr<Entry> entry(const Key& key);

  std::mutex mutex_;
  std::map<Key, std::shared_ptr<Entry>> entries_;
  std::int64_t turns_ = 0;  ///< Turns of all entries.
};

}  // namespace stepwright::simulate
