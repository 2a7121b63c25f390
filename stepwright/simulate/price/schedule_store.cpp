#include "stepwright/simulate/price/schedule_store.h"

#include <utility>

#include "stepwright/schedule/found/all_turns.h"

namespace stepwright::simulate {
namespace {

/// Most turns remembered: about ten megabytes.
constexpr std::int64_t kMostTurns = std::int64_t{1} << 18;

StoredScheduleTurns made(const ScheduleStore::Key& key) {
  StoredScheduleTurns schedule{
      .placement = schedule::placement_of(key.schedule, key.stages),
      .turns = schedule::all_turns(key.schedule, key.stages, key.micro_batches),
      .order = {}};
  if (key.schedule.strands == 1) {
    for (schedule::Turns& turns : schedule.turns) turns = schedule::without_pairs(std::move(turns));
  }
  schedule.order = schedule::TurnOrder(schedule.turns, schedule.placement);
  return schedule;
}

FullestMoments what_waits(const StoredScheduleTurns& schedule) {
  FullestMoments waiting;
  for (const schedule::Turns& turns : schedule.turns) {
    waiting.fullest.push_back(schedule::fullest_moments(turns, schedule.placement.chunks()));
    waiting.weights_at_end.push_back(schedule::weights_at_end(schedule::turn_parts(turns)));
  }
  return waiting;
}

}  // namespace

std::shared_ptr<ScheduleStore::Entry> ScheduleStore::entry(const Key& key) {
  const std::lock_guard lock(mutex_);
  if (const auto found = entries_.find(key); found != entries_.end()) return found->second;
  if (turns_ > kMostTurns) {
    entries_.clear();
    turns_ = 0;
  }
  turns_ += 2 * key.micro_batches * schedule::placement_of(key.schedule, key.stages).model_chunks();
  return entries_[key] = std::make_shared<Entry>();
}

std::shared_ptr<const StoredScheduleTurns> ScheduleStore::turns(const Key& key) {
  const std::shared_ptr<Entry> entry = this->entry(key);
  const std::lock_guard lock(entry->mutex);
  if (!entry->turns) entry->turns = std::make_shared<const StoredScheduleTurns>(made(key));
  return entry->turns;
}

std::shared_ptr<const FullestMoments> ScheduleStore::waiting(const Key& key) {
  const std::shared_ptr<const StoredScheduleTurns> schedule = turns(key);
  const std::shared_ptr<Entry> entry = this->entry(key);
  const std::lock_guard lock(entry->mutex);
  if (!entry->waiting)
    entry->waiting = std::make_shared<const FullestMoments>(what_waits(*schedule));
  return entry->waiting;
}

}  // namespace stepwright::simulate
