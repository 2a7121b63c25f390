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

/// The turns of a schedule for one number of stages and one of micro-batches.
struct StoredScheduleTurns {
  schedule::Placement placement;
  std::vector<schedule::Turns> turns;  ///< Turns by position; with one strand they have no pairs.
  schedule::TurnOrder order;
};

/// Chunks of a schedule that wait for their backward, at the fullest moments of each position.
struct WaitingTurns {
  std::vector<std::vector<schedule::Moment>> fullest;
  std::vector<std::int64_t> weights_at_end;
};

/// Keeps schedules that are simulated, each built once, for any number of threads. When they are
/// too many all are dropped; pointers returned before stay valid.
class ScheduleStore {
 public:
  /// A schedule with its numbers of stages and micro-batches.
  struct Key {
    schedule::Schedule schedule;
    std::int64_t stages = 1;
    std::int64_t micro_batches = 1;
    auto operator<=>(const Key&) const = default;
  };
  std::shared_ptr<const StoredScheduleTurns> turns(const Key& key);
  /// Returns the chunks that wait for their backward in a schedule, by position.
  std::shared_ptr<const WaitingTurns> waiting(const Key& key);

 private:
  struct Entry {
    std::mutex mutex;  ///< Held while the entry's members are computed.
    std::shared_ptr<const StoredScheduleTurns> turns;
    std::shared_ptr<const WaitingTurns> waiting;
  };
  std::shared_ptr<Entry> entry(const Key& key);

  std::mutex mutex_;
  std::map<Key, std::shared_ptr<Entry>> entries_;
  std::int64_t turns_ = 0;  ///< Number of turns in all entries.
};

}  // namespace stepwright::simulate
