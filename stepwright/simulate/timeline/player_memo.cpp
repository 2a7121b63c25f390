#include <algorithm>
#include <bit>
#include <cmath>

#include "stepwright/simulate/timeline/player.h"

namespace stepwright::simulate {
namespace {

/// Times that differ by less than this share of the present time are equal up to rounding.
constexpr double kRounding = 1e-13;
/// Most slots by which the streams of a stage may be apart for a slot to be recorded.
constexpr std::int32_t kMostApart = 32;

template <class Each>
void for_each_stream(unsigned streams, Each&& each) {
  for (unsigned m = streams; m != 0; m &= m - 1) each(std::countr_zero(m));
}

/// Advances a lane by as many slots, messages, tasks and seconds as `now` is after `then`. Written
/// member by member: a loop over a list of members would wait for each to be stored.
void move_on(StreamQueueState& lane, const StreamQueueState& then, const StreamQueueState& now,
             double seconds) {
  lane.slot += now.slot - then.slot;
  lane.receives += now.receives - then.receives;
  lane.sends += now.sends - then.sends;
  for (int s = 0; s < step::kStreams; ++s) lane.base[s] += now.base[s] - then.base[s];
  lane.pace.finish_s += seconds;
  lane.pace.since_s += seconds;
  lane.before.finish_s += seconds;
  lane.before.since_s += seconds;
  lane.start_s += seconds;
}

/// Finds the slots on which the record of a slot depends; false where this cannot be determined.
bool bound(SimulatedScheduleSlot& played) {
  const StageQueueStates& before = played.before;
  const StageQueueStates& after = played.after;
  if (before.unfinished != after.unfinished) return false;
  unsigned still = 0;
  std::int32_t first = before.lanes[kComputeQueueIndex].slot;
  std::int32_t last = first;
  for_each_stream(before.unfinished, [&](int s) {
    const bool runs = ((before.running | after.running) >> static_cast<unsigned>(s) & 1U) != 0;
    if (!runs && before.lanes[s].task == after.lanes[s].task &&
        before.lanes[s].wait == after.lanes[s].wait &&
        before.lanes[s].slot == after.lanes[s].slot) {
      still |= 1U << static_cast<unsigned>(s);
    } else {
      last = std::max(last, after.lanes[s].slot);
    }
  });
  for_each_stream(before.unfinished, [&](int s) {
    const bool beyond =
        (still >> static_cast<unsigned>(s) & 1U) != 0 && before.lanes[s].slot > last;
    if (beyond) played.beyond |= 1U << static_cast<unsigned>(s);
    if (!beyond) first = std::min(first, before.lanes[s].slot);
  });
  played.first = first - before.lanes[kComputeQueueIndex].slot;
  played.tracks.resize(static_cast<std::size_t>(last - first + 1));
  return last - first <= kMostApart;
}

}  // namespace

void StageTimeAccount::add(const StageTimeAccount& before, const StageTimeAccount& after) {
  const auto add = [](double& sum, double from, double to) { sum += to - from; };
  add(compute_s, before.compute_s, after.compute_s);
  add(optimizer_s, before.optimizer_s, after.optimizer_s);
  add(bubble_s, before.bubble_s, after.bubble_s);
  add(compute_busy_s, before.compute_busy_s, after.compute_busy_s);
  for (std::size_t i = 0; i < kSchemes; ++i) {
    add(exposed_s[i], before.exposed_s[i], after.exposed_s[i]);
    add(communication_busy_s[i], before.communication_busy_s[i], after.communication_busy_s[i]);
  }
  for (std::size_t i = 0; i < cost::kLinkClasses; ++i) {
    add(link_busy_s[i], before.link_busy_s[i], after.link_busy_s[i]);
  }
}

void SimulatedScheduleSlotCache::record_simulated_slot(std::int32_t track,
                                                       SimulatedScheduleSlot&& slot) {
  OfTrack& of = slots_[static_cast<std::size_t>(track)];
  if (of.played.size() < kMost) {
    of.played.push_back(std::move(slot));
  } else {
    of.played[of.oldest++ % kMost] = std::move(slot);
  }
}

/// Called at the start of a slot's computation: repeats a recorded slot that started in the same
/// state, or starts a record of this one. Returns true if it repeated one.
bool StageSimulator::play_again(std::vector<SimulatedStageNotice>& notices) {
  if ((running_ >> kComputeQueueIndex & 1U) == 0) return false;
  begins_slot_ = false;
  if ((meeting_ | held_ | watches_[kArrivals].streams) != 0) return false;
  for (const SimulatedScheduleSlot& played : memo_->of(track_id(lanes_[kComputeQueueIndex].slot))) {
    if (!stands_like(played)) continue;
    // A task without time may have ended the slot before at this instant: its record would lack
    // what is repeated.
    recording_ = false;
    repeat(played, notices);
    return true;
  }
  slot_ = SimulatedScheduleSlot{.before = stand()};
  recording_ = true;
  return false;
}

/// Ends the record of a slot when the compute stream has left it.
void StageSimulator::keep_slot() {
  if (lanes_[kComputeQueueIndex].slot == slot_.before.lanes[kComputeQueueIndex].slot) return;
  recording_ = false;
  slot_.after = stand();
  if ((meeting_ | held_) != 0 || !bound(slot_)) return;
  const std::int32_t track = track_id(slot_.before.lanes[kComputeQueueIndex].slot);
  std::int32_t at = slot_.before.lanes[kComputeQueueIndex].slot + slot_.first;
  for (std::int32_t& each : slot_.tracks) each = track_id(at++);
  memo_->record_simulated_slot(track, std::move(slot_));
}

StageQueueStates StageSimulator::stand() const {
  return {.now_s = now_s_,
          .lanes = lanes_,
          .ended = ended_,
          .on_link = on_link_,
          .unfinished = unfinished_,
          .running = running_,
          .computing = computing_,
          .account = account_};
}

/// True if everything on which a recorded slot depended is now as it was then.
bool StageSimulator::stands_like(const SimulatedScheduleSlot& played) const {
  const StageQueueStates& before = played.before;
  if (unfinished_ != before.unfinished || running_ != before.running) return false;
  const StreamQueueState& own = lanes_[kComputeQueueIndex];
  const StreamQueueState& then = before.lanes[kComputeQueueIndex];
  const std::int32_t first = own.slot + played.first;
  const std::int32_t last = first + static_cast<std::int32_t>(played.tracks.size()) - 1;
  if (first < 0 || last >= std::ssize(schedule_)) return false;
  for (std::size_t i = 0; i < played.tracks.size(); ++i) {
    if (track_id(first + static_cast<std::int32_t>(i)) != played.tracks[i]) return false;
  }
  for (unsigned m = unfinished_; m != 0; m &= m - 1) {
    const int s = std::countr_zero(m);
    const unsigned self = 1U << static_cast<unsigned>(s);
    const bool alike =
        (played.beyond & self) != 0
            ? lanes_[s].slot > last && waits_longer(lanes_[s], played)
            : stands_like(lanes_[s], before.lanes[s], played, (running_ & self) != 0);
    if (!alike) return false;
  }
  const double later_s = now_s_ - before.now_s;
  return std::ranges::all_of(
      played.needed, [&](const SimulatedScheduleSlot::NeededSlotMessage& needed) {
        return arrivals_[needed.receive + own.receives - then.receives].arrived_s <=
               needed.time_s + later_s;
      });
}

bool StageSimulator::stands_like(const StreamQueueState& lane, const StreamQueueState& other,
                                 const SimulatedScheduleSlot& played, bool runs) const {
  const StageQueueStates& before = played.before;
  if (lane.task != other.task || lane.slot - lanes_[kComputeQueueIndex].slot !=
                                     other.slot - before.lanes[kComputeQueueIndex].slot) {
    return false;
  }
  if (!runs) return lane.wait == other.wait;
  const double left_s = lane.pace.finish_s - now_s_;
  const double left_then_s = other.pace.finish_s - before.now_s;
  return lane.pace.stretch == other.pace.stretch &&
         std::abs(left_s - left_then_s) <= kRounding * std::max(now_s_, before.now_s);
}

/// True if the head of a lane waits for more than happens in a slot. Effects of the last
/// computation are checked when it has ended.
bool StageSimulator::waits_longer(const StreamQueueState& lane,
                                  const SimulatedScheduleSlot& played) const {
  const TaskWaitCondition& wait = *lane.wait;
  if (wait.lane == kArrivals) return false;
  const std::int32_t ended =
      ended_[wait.lane] + played.after.ended[wait.lane] - played.before.ended[wait.lane];
  const std::int32_t count = wait.count + lane.base[wait.lane];
  return wait.lane == kComputeQueueIndex ? count >= ended : count > ended;
}

/// Goes through a slot as a recorded one did.
void StageSimulator::repeat(const SimulatedScheduleSlot& played,
                            std::vector<SimulatedStageNotice>& notices) {
  const StageQueueStates& before = played.before;
  const StageQueueStates& after = played.after;
  const StreamQueueState now = lanes_[kComputeQueueIndex];
  const StreamQueueState& then = before.lanes[kComputeQueueIndex];
  const double later_s = now_s_ - before.now_s;
  for (unsigned m = unfinished_ & ~played.beyond; m != 0; m &= m - 1) {
    const int s = std::countr_zero(m);
    lanes_[s] = after.lanes[s];
    move_on(lanes_[s], then, now, later_s);
  }
  for (int s = 0; s < step::kStreams; ++s) ended_[s] += after.ended[s] - before.ended[s];
  on_link_ = after.on_link;
  running_ = after.running;
  computing_ = after.computing;
  waiting_ = check_ = unfinished_ & ~running_;
  watches_ = {};
  account_.add(before.account, after.account);
  for (SimulatedStageNotice notice : played.notices) {
    notice.send += now.sends - then.sends;
    notice.time_s += later_s;
    notices.push_back(notice);
  }
  now_s_ = after.now_s + later_s;
  end_s_ = now_s_;
  begins_slot_ = true;
}

}  // namespace stepwright::simulate
