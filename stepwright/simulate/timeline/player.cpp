#include "stepwright/simulate/timeline/player.h"

#include <algorithm>
#include <bit>

namespace stepwright::simulate {
namespace {

constexpr unsigned bit(int stream) { return 1U << static_cast<unsigned>(stream); }
constexpr int first(unsigned streams) { return std::countr_zero(streams); }
constexpr unsigned rest(unsigned streams) { return streams & (streams - 1); }

/// True if a task takes time and no other stage hears of it.
bool stays_inside(const StreamTask& task) {
  return task.seconds > 0 &&
         (task.role == TaskRole::kComputation || task.role == TaskRole::kMessage);
}

}  // namespace

StageSimulator::StageSimulator(const StageTaskProgram& part)
    : score_(*part.score),
      track_of_(part.track_of),
      schedule_(part.schedule),
      arrivals_(part.arrivals),
      beside_{1.0, std::max(1.0, part.contention.compute_beside_inside),
              std::max(1.0, part.contention.compute_beside_network)},
      memo_(part.memo) {
  unsigned used = 0;
  for (const std::int32_t track : track_of_) {
    for (int s = 0; s < step::kStreams; ++s)
      used |= score_.tracks[track].count[s] > 0 ? bit(s) : 0U;
  }
  unfinished_ = used;
  for (unsigned m = used; m != 0; m = rest(m)) next_slot(first(m));
}

void StageSimulator::tell(SimulatedStageNotice notice, std::vector<SimulatedStageNotice>& notices) {
  notice.time_s = now_s_;
  notices.push_back(notice);
  if (recording_) slot_.notices.push_back(notice);
}

/// Moves a queue that has finished its tasks of one slot to the next slot that has some.
void StageSimulator::next_slot(int s) {
  StreamQueueState& lane = lanes_[s];
  const auto slots = static_cast<std::int32_t>(schedule_.size());
  while (true) {
    if (lane.slot >= 0 && lane.slot < slots) {
      const TemplateSequenceTasks& past = score_.tracks[track_id(lane.slot)];
      for (int other = 0; other < step::kStreams; ++other) lane.base[other] += past.count[other];
      lane.receives += past.receives;
      lane.sends += past.sends;
    }
    if (++lane.slot >= slots) break;
    const TemplateSequenceTasks& track = score_.tracks[track_id(lane.slot)];
    if (track.count[s] == 0) continue;
    lane.task = &score_.tasks[track.first[s]];
    lane.end = lane.task + track.count[s];
    begins_slot_ |= s == kComputeQueueIndex;
    new_head(s);
    return;
  }
  unfinished_ &= ~bit(s);
  if (s == kComputeQueueIndex) compute_end_s_ = now_s_;
}

/// Marks the new head of a queue as waiting.
void StageSimulator::new_head(int s) {
  lanes_[s].wait = score_.waits.data() + head(s).first_wait;
  waiting_ |= bit(s);
  check_ |= bit(s);
}

void StageSimulator::check_watchers(int lane) {
  check_ |= watches_[lane].streams;
  watches_[lane] = {};
}

/// True if everything that a head waits for has happened; remembers how far it got.
bool StageSimulator::ready(int s) {
  StreamQueueState& lane = lanes_[s];
  const TaskWaitCondition* const last = score_.waits.data() + lane.task->last_wait;
  for (; lane.wait < last; ++lane.wait) {
    const TaskWaitCondition& wait = *lane.wait;
    const bool arrives = wait.lane == kArrivals;
    const std::int32_t count = wait.count + (arrives ? lane.receives : lane.base[wait.lane]);
    if (arrives ? arrivals_[count].arrived_s <= now_s_ : ended_[wait.lane] >= count) {
      if (arrives && recording_) slot_.needed.push_back({count, now_s_});
      continue;
    }
    recording_ &= !arrives;
    Watch& watch = watches_[wait.lane];
    watch.streams |= bit(s);
    watch.count = std::min(watch.count, count);
    return false;
  }
  return true;
}

/// Starts a ready head, or lets it reach its meeting.
void StageSimulator::start(int s, std::vector<SimulatedStageNotice>& notices) {
  waiting_ &= ~bit(s);
  const StreamTask& task = head(s);
  if (task.role != TaskRole::kMeeting) return begin(s, notices);
  meeting_ |= bit(s);
  lanes_[s].called_s = kNever;
  recording_ = false;
  tell({.what = SimulatedStageNotice::What::kReachedMeeting,
        .stream = static_cast<std::int8_t>(s),
        .group = task.group},
       notices);
}

void StageSimulator::begin(int s, std::vector<SimulatedStageNotice>& notices) {
  const StreamTask& task = head(s);
  StreamQueueState& lane = lanes_[s];
  if (task.role == TaskRole::kSend) {
    tell({.what = SimulatedStageNotice::What::kSendBegan, .send = lane.sends + task.send}, notices);
  }
  if (task.seconds == 0 && task.role != TaskRole::kMeeting) {
    lane.start_s = now_s_;
    finish(s, notices);
  } else {
    enter(s);
  }
}

/// Marks the head of a queue as running.
void StageSimulator::enter(int s) {
  const StreamTask& task = head(s);
  StreamQueueState& lane = lanes_[s];
  lane.start_s = now_s_;
  lane.pace = {.remaining_s = task.seconds, .since_s = now_s_};
  lane.before.stretch = 0;
  running_ |= bit(s);
  if (task.role == TaskRole::kComputation) {
    computing_ |= bit(s);
  } else {
    ++on_link_[static_cast<int>(task.link)];
  }
}

/// Removes a task that is done from its link and from the running tasks.
void StageSimulator::leave(int s) {
  running_ &= ~bit(s);
  if ((computing_ & bit(s)) != 0) {
    computing_ &= ~bit(s);
  } else {
    --on_link_[static_cast<int>(head(s).link)];
  }
}

/// Books a task that has ended.
void StageSimulator::end(const StreamQueueState& lane, const StreamTask& task) {
  end_s_ = now_s_;
  if (task.role == TaskRole::kComputation) {
    account_.compute_busy_s += task.seconds;
    if (&lane == &lanes_[kComputeQueueIndex]) {
      (task.optimizer ? account_.optimizer_s : account_.compute_s) += task.seconds;
    }
  } else {
    account_.communication_busy_s[static_cast<int>(task.scheme)] += task.seconds;
    account_.link_busy_s[static_cast<int>(task.link)] += task.seconds;
  }
  if (played_ != nullptr) played_->push_back({lane.slot, &task, lane.start_s, now_s_});
}

/// Ends the head of a queue and moves the queue on.
void StageSimulator::finish(int s, std::vector<SimulatedStageNotice>& notices) {
  StreamQueueState& lane = lanes_[s];
  const StreamTask& task = head(s);
  if (++ended_[s] >= watches_[s].count) check_watchers(s);
  end(lane, task);
  if (task.role == TaskRole::kSend) {
    tell({.what = SimulatedStageNotice::What::kSendEnded, .send = lane.sends + task.send}, notices);
  }
  if (++lane.task < lane.end) {
    new_head(s);
  } else {
    next_slot(s);
  }
}

void StageSimulator::end_due(std::vector<SimulatedStageNotice>& notices) {
  for (unsigned m = running_; m != 0; m = rest(m)) {
    const int s = first(m);
    if (lanes_[s].pace.finish_s > now_s_) continue;
    leave(s);
    if (head(s).role == TaskRole::kMeeting) {
      held_ |= bit(s);
      lanes_[s].called_s = kNever;
      tell({.what = SimulatedStageNotice::What::kDoneInMeeting,
            .stream = static_cast<std::int8_t>(s),
            .group = head(s).group},
           notices);
    } else {
      finish(s, notices);
    }
  }
  for (unsigned m = held_; m != 0; m = rest(m)) {
    if (lanes_[first(m)].called_s > now_s_) continue;
    held_ &= ~bit(first(m));
    finish(first(m), notices);
  }
}

void StageSimulator::start_ready(std::vector<SimulatedStageNotice>& notices) {
  for (unsigned m = meeting_; m != 0; m = rest(m)) {
    if (lanes_[first(m)].called_s > now_s_) continue;
    meeting_ &= ~bit(first(m));
    begin(first(m), notices);
  }
  check_watchers(kArrivals);
  while (check_ != 0) {
    const int s = first(check_);
    check_ = rest(check_);
    if (ready(s)) start(s, notices);
  }
}

/// Sets the present rate of every running task; tasks whose rate is unchanged keep their exact end.
void StageSimulator::refresh() {
  double slow = 1;
  for (int c = 1; c < cost::kLinkClasses; ++c) {
    if (on_link_[c] > 0) slow = std::max(slow, beside_[c]);
  }
  double next_event_s = kNever;
  for (unsigned m = running_; m != 0; m = rest(m)) {
    const int s = first(m);
    StreamQueueState& lane = lanes_[s];
    double stretch = slow;
    if ((computing_ & bit(s)) == 0) {
      const cost::LinkClass link = head(s).link;
      stretch = link == cost::LinkClass::kNone ? 1.0 : on_link_[static_cast<int>(link)];
    }
    if (stretch != lane.pace.stretch) set_pace(lane, stretch);
    next_event_s = std::min(next_event_s, lane.pace.finish_s);
  }
  slow_ = slow;
  own_next_s_ = next_event_s;
}

/// Sets the rate of a running task. Several calls at one instant have the effect of the last.
void StageSimulator::set_pace(StreamQueueState& lane, double stretch) const {
  QueueFrontTaskRate& pace = lane.pace;
  if (pace.since_s < now_s_) {
    lane.before = pace;
  } else if (stretch == lane.before.stretch) {
    pace = lane.before;
    return;
  }
  if (pace.stretch > 0) {
    pace.remaining_s = std::max(0.0, pace.remaining_s - (now_s_ - pace.since_s) / pace.stretch);
  }
  pace.since_s = now_s_;
  pace.stretch = stretch;
  pace.finish_s = now_s_ + pace.remaining_s * stretch;
}

/// While only the compute stream runs, simulates those of its tasks that concern no other queue and
/// no other stage: each takes its priced seconds. The result equals that of calling
/// `simulate_events_at_next_time` for each.
void StageSimulator::play_alone() {
  const int s = kComputeQueueIndex;
  const bool alone = running_ == bit(s) && (meeting_ | held_ | watches_[kArrivals].streams) == 0;
  if (!alone) return;
  StreamQueueState& lane = lanes_[s];
  const auto goes_on = [&] {
    return lane.task + 1 < lane.end && stays_inside(lane.task[0]) && stays_inside(lane.task[1]) &&
           ended_[s] + 1 < watches_[s].count;
  };
  if (!goes_on()) return;
  do {
    const StreamTask& task = *lane.task;
    if (task.role != TaskRole::kComputation) spend_on(task, lane.pace.finish_s - now_s_);
    now_s_ = lane.pace.finish_s;
    leave(s);
    ++ended_[s];
    end(lane, task);
    ++lane.task;
    new_head(s);
    check_ = 0;
    if (!ready(s)) break;
    waiting_ &= ~bit(s);
    enter(s);
    lane.pace.stretch = 1;
    lane.pace.finish_s = now_s_ + lane.pace.remaining_s;
  } while (goes_on());
  refresh();
}

void StageSimulator::recheck_stage_waits() {
  next_s_ = own_next_s_;
  blocked_ = false;
  const auto expect = [&](double time_s) {
    next_s_ = std::min(next_s_, std::max(time_s, now_s_));
    blocked_ |= time_s == kNever;
  };
  for (unsigned m = watches_[kArrivals].streams; m != 0; m = rest(m)) {
    const StreamQueueState& lane = lanes_[first(m)];
    expect(arrivals_[lane.receives + lane.wait->count].arrived_s);
  }
  for (unsigned m = meeting_ | held_; m != 0; m = rest(m)) expect(lanes_[first(m)].called_s);
}

// Flattened, since calls of such short functions take a fifth of a simulation.
[[gnu::flatten]] void StageSimulator::simulate_events_at_next_time(
    std::vector<SimulatedStageNotice>& notices) {
  spend_until(next_s_);
  now_s_ = next_s_;
  end_due(notices);
  do {
    if (recording_) keep_slot();
    start_ready(notices);
    refresh();
  } while (begins_slot_ && memo_ != nullptr && play_again(notices));
  play_alone();
  recheck_stage_waits();
}

StageSimulator::BlockedQueueHead StageSimulator::stuck() const {
  const unsigned candidates = unfinished_ & ~running_;
  if (candidates == 0) return {};
  const int s = first(candidates);
  return {lanes_[s].slot, &head(s), (waiting_ & bit(s)) != 0 ? lanes_[s].wait : nullptr};
}

}  // namespace stepwright::simulate
