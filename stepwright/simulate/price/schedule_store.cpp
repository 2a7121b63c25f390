#include "stepwright/simulate/price/schedule_store.h"

#include <utility>

#include "stepwright/schedule/found/all_turns.h"

namespace stepwright::simulate {
namespace {

/// Most turns remembered: about ten megabytes.
constexpr std::int64_t kMostTurns = std::int64_t{1} << 18;

StoredScheduleTurns made(const SimulatedScheduleCache::Key& key) {
  StoredScheduleTurns schedule{
      .placement = schedule::chunk_placement_of(key.schedule, key.stages),
      .turns = schedule::all_turns(key.schedule, key.stages, key.micro_batches),
      .order = {}};
  if (key.schedule.strands == 1) {
    for (schedule::Turns& turns : schedule.turns)
      turns = schedule::without_overlapped_pairs(std::move(turns));
  }
  schedule.order = schedule::TurnOrder(schedule.turns, schedule.placement);
  return schedule;
}

FullestScheduleMoments what_waits(const StoredScheduleTurns& schedule) {
  FullestScheduleMoments fullest_schedule_moments;
  for (const schedule::Turns& turns : schedule.turns) {
    fullest_schedule_moments.fullest.push_back(
        schedule::peak_memory_moments(turns, schedule.placement.chunks()));
    fullest_schedule_moments.trailing_weight_gradients.push_back(
        schedule::trailing_weight_gradients(schedule::parts_in_issue_order(turns)));
  }
  return fullest_schedule_moments;
}

}  // namespace

std::shared_ptr<SimulatedScheduleCache::Entry> SimulatedScheduleCache::entry(const Key& key) {
  const std::lock_guard lock(mutex_);
  if (const auto found = entries_.find(key); found != entries_.end()) return found->second;
  if (turns_ > kMostTurns) {
    entries_.clear();
    turns_ = 0;
  }
  turns_ += 2 * key.micro_batches *
            schedule::chunk_placement_of(key.schedule, key.stages).model_chunk_count();
  return entries_[key] = std::make_shared<Entry>();
}

std::shared_ptr<const StoredScheduleTurns> SimulatedScheduleCache::turns(const Key& key) {
  const std::shared_ptr<Entry> entry = this->entry(key);
  const std::lock_guard lock(entry->mutex);
  if (!entry->turns) entry->turns = std::make_shared<const StoredScheduleTurns>(made(key));
  return entry->turns;
}

std::shared_ptr<const FullestScheduleMoments> SimulatedScheduleCache::fullest_schedule_moments(
    const Key& key) {
  const std::shared_ptr<const StoredScheduleTurns> schedule = turns(key);
  const std::shared_ptr<Entry> entry = this->entry(key);
  const std::lock_guard lock(entry->mutex);
  if (!entry->fullest_schedule_moments)
    entry->fullest_schedule_moments =
        std::make_shared<const FullestScheduleMoments>(what_waits(*schedule));
  return entry->fullest_schedule_moments;
}

}  // namespace stepwright::simulate
