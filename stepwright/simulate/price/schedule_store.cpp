#include "stepwright/simulate/price/schedule_store.h"

#include <utility>

#include "stepwright/schedule/found/all_turns.h"

namespace stepwright::simulate {
namespace {

/// Most turns remembered: about ten megabytes.
constexpr std::int64_t kMostTurns = std::int64_t{1} << 18;

CachedScheduleTurns made(const SimulatedScheduleCache::SimulatedScheduleKey& key) {
  CachedScheduleTurns schedule{
      .placement = schedule::model_chunk_placement(key.schedule, key.stages),
      .turns = schedule::schedule_turns_of_positions(key.schedule, key.stages, key.micro_batches),
      .order = {}};
  if (key.schedule.strands == 1) {
    for (schedule::Turns& turns : schedule.turns)
      turns = schedule::serialize_overlapped_turns(std::move(turns));
  }
  schedule.order = schedule::ScheduleTurnOrder(schedule.turns, schedule.placement);
  return schedule;
}

FullestScheduleMoments what_waits(const CachedScheduleTurns& schedule) {
  FullestScheduleMoments fullest_schedule_moments;
  for (const schedule::Turns& turns : schedule.turns) {
    fullest_schedule_moments.fullest.push_back(
        schedule::peak_memory_moments(turns, schedule.placement.chunks()));
    fullest_schedule_moments.trailing_weight_gradients.push_back(
        schedule::trailing_weight_gradients(schedule::work_items_in_issue_order(turns)));
  }
  return fullest_schedule_moments;
}

}  // namespace

std::shared_ptr<SimulatedScheduleCache::Entry> SimulatedScheduleCache::entry(
    const SimulatedScheduleKey& key) {
  const std::lock_guard lock(mutex_);
  if (const auto found = entries_.find(key); found != entries_.end()) return found->second;
  if (turns_ > kMostTurns) {
    entries_.clear();
    turns_ = 0;
  }
  turns_ += 2 * key.micro_batches *
            schedule::model_chunk_placement(key.schedule, key.stages).model_chunk_count();
  return entries_[key] = std::make_shared<Entry>();
}

std::shared_ptr<const CachedScheduleTurns> SimulatedScheduleCache::turns(
    const SimulatedScheduleKey& key) {
  const std::shared_ptr<Entry> entry = this->entry(key);
  const std::lock_guard lock(entry->mutex);
  if (!entry->turns) entry->turns = std::make_shared<const CachedScheduleTurns>(made(key));
  return entry->turns;
}

std::shared_ptr<const FullestScheduleMoments>
SimulatedScheduleCache::schedule_moments_of_peak_activations(const SimulatedScheduleKey& key) {
  const std::shared_ptr<const CachedScheduleTurns> schedule = turns(key);
  const std::shared_ptr<Entry> entry = this->entry(key);
  const std::lock_guard lock(entry->mutex);
  if (!entry->fullest_schedule_moments)
    entry->fullest_schedule_moments =
        std::make_shared<const FullestScheduleMoments>(what_waits(*schedule));
  return entry->fullest_schedule_moments;
}

}  // namespace stepwright::simulate
