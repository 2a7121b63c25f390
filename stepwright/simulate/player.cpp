#include "stepwright/simulate/player.h"

#include <algorithm>
#include <bit>

namespace stepwright {
namespace {

constexpr int kComputeLane = static_cast<int>(Stream::kCompute);

constexpr unsigned bit(int stream) { return 1U << static_cast<unsigned>(stream); }
constexpr int first(unsigned streams) { return std::countr_zero(streams); }
constexpr unsigned rest(unsigned streams) { return streams & (streams - 1); }

}  // namespace

Player::Player(const Part& part)
    : score_(*part.score),
      tracks_(part.tracks),
      schedule_(part.schedule),
      arrivals_(part.arrivals),
      beside_{1.0, std::max(1.0, part.contention.compute_beside_inside),
              std::max(1.0, part.contention.compute_beside_network)} {
  unsigned used = 0;
  for (const Track& track : tracks_) {
    for (int s = 0; s < kStreams; ++s) used |= track.count[s] > 0 ? bit(s) : 0U;
  }
  unfinished_ = used;
  for (unsigned m = used; m != 0; m = rest(m)) next_slot(first(m));
}

/// Moves a queue that has played its tasks of one slot to the next slot that has some.
void Player::next_slot(int s) {
  Lane& lane = lanes_[s];
  const auto slots = static_cast<std::int32_t>(schedule_.size());
  while (true) {
    if (lane.slot >= 0 && lane.slot < slots) {
      const Track& past = tracks_[schedule_[lane.slot].sequence];
      for (int other = 0; other < kStreams; ++other) lane.base[other] += past.count[other];
      lane.receives += past.receives;
      lane.sends += past.sends;
    }
    if (++lane.slot >= slots) break;
    const Track& track = tracks_[schedule_[lane.slot].sequence];
    if (track.count[s] == 0) continue;
    lane.task = track.first[s];
    lane.end = lane.task + track.count[s];
    lane.wait = head(s).first_wait;
    waiting_ |= bit(s);
    return;
  }
  unfinished_ &= ~bit(s);
  if (s == kComputeLane) compute_end_s_ = now_s_;
}

bool Player::awaits(std::int32_t receive) const {
  for (unsigned m = waiting_; m != 0; m = rest(m)) {
    const Lane& lane = lanes_[first(m)];
    if (lane.wait == head(first(m)).last_wait) continue;
    const Wait& wait = score_.waits[lane.wait];
    if (wait.lane == kArrivals && lane.receives + wait.count == receive) return true;
  }
  return false;
}

/// Whether all that a head waits for has happened; remembers how far it got.
bool Player::ready(int s) {
  Lane& lane = lanes_[s];
  for (const std::int32_t last = head(s).last_wait; lane.wait < last; ++lane.wait) {
    const Wait& wait = score_.waits[lane.wait];
    const bool met = wait.lane == kArrivals
                         ? arrivals_[lane.receives + wait.count].arrived_s != kNever
                         : ended_[wait.lane] >= lane.base[wait.lane] + wait.count;
    if (!met) return false;
  }
  return true;
}

/// Starts a ready head, or takes it to its meeting. True if that ended a task at once.
bool Player::start(int s, std::vector<Notice>& notices) {
  waiting_ &= ~bit(s);
  const Task& task = head(s);
  if (task.role != Role::kMeeting) return begin(s, notices);
  meeting_ |= bit(s);
  notices.push_back({.what = Notice::What::kReachedMeeting,
                     .stream = static_cast<std::int8_t>(s),
                     .group = task.group});
  return false;
}

bool Player::begin(int s, std::vector<Notice>& notices) {
  const Task& task = head(s);
  Lane& lane = lanes_[s];
  lane.start_s = now_s_;
  if (task.role == Role::kSend) {
    notices.push_back({.what = Notice::What::kSendBegan, .send = lane.sends + task.send});
  }
  if (task.seconds == 0 && task.role != Role::kMeeting) {
    finish(s, notices);
    return true;
  }
  lane.remaining_s = task.seconds;
  lane.since_s = now_s_;
  lane.stretch = 0;
  running_ |= bit(s);
  if (task.role == Role::kComputation) {
    computing_ |= bit(s);
  } else {
    ++on_link_[static_cast<int>(task.link)];
  }
  return false;
}

/// Takes a task that is done off its link.
void Player::leave(int s) {
  running_ &= ~bit(s);
  if ((computing_ & bit(s)) != 0) {
    computing_ &= ~bit(s);
  } else {
    --on_link_[static_cast<int>(head(s).link)];
  }
}

/// Ends the head of a queue and moves the queue on.
void Player::finish(int s, std::vector<Notice>& notices) {
  Lane& lane = lanes_[s];
  const Task& task = head(s);
  ++ended_[s];
  end_s_ = now_s_;
  if (task.role == Role::kComputation) {
    account_.compute_busy_s += task.seconds;
    if (s == kComputeLane) {
      (task.optimizer ? account_.optimizer_s : account_.compute_s) += task.seconds;
    }
  } else {
    account_.communication_busy_s[static_cast<int>(task.scheme)] += task.seconds;
    account_.link_busy_s[static_cast<int>(task.link)] += task.seconds;
    if (task.role == Role::kSend) {
      notices.push_back({.what = Notice::What::kSendEnded, .send = lane.sends + task.send});
    }
  }
  if (played_ != nullptr) played_->push_back({lane.slot, &task, lane.start_s, now_s_});
  if (++lane.task < lane.end) {
    lane.wait = head(s).first_wait;
    waiting_ |= bit(s);
  } else {
    next_slot(s);
  }
}

void Player::end_due(std::vector<Notice>& notices) {
  for (unsigned m = running_; m != 0; m = rest(m)) {
    const int s = first(m);
    if (lanes_[s].finish_s > now_s_) continue;
    leave(s);
    if (head(s).role == Role::kMeeting) {
      held_ |= bit(s);
      notices.push_back({.what = Notice::What::kDoneInMeeting,
                         .stream = static_cast<std::int8_t>(s),
                         .group = head(s).group});
    } else {
      finish(s, notices);
    }
  }
  for (unsigned m = released_; m != 0; m = rest(m)) finish(first(m), notices);
  held_ &= ~released_;
  released_ = 0;
}

void Player::start_ready(std::vector<Notice>& notices) {
  for (unsigned m = granted_; m != 0; m = rest(m)) begin(first(m), notices);
  meeting_ &= ~granted_;
  granted_ = 0;
  bool again = true;
  while (again) {
    again = false;
    for (unsigned m = waiting_; m != 0; m = rest(m)) {
      if (ready(first(m))) again |= start(first(m), notices);
    }
  }
}

/// Gives everything that runs its present rate; what keeps its rate keeps its exact end.
void Player::refresh() {
  slow_ = 1;
  for (int c = 1; c < kLinkClasses; ++c) {
    if (on_link_[c] > 0) slow_ = std::max(slow_, beside_[c]);
  }
  next_s_ = kNever;
  for (unsigned m = running_; m != 0; m = rest(m)) {
    const int s = first(m);
    Lane& lane = lanes_[s];
    double stretch = slow_;
    if ((computing_ & bit(s)) == 0) {
      const LinkClass link = head(s).link;
      stretch = link == LinkClass::kNone ? 1.0 : on_link_[static_cast<int>(link)];
    }
    if (stretch != lane.stretch) {
      if (lane.stretch > 0) {
        const double played = (now_s_ - lane.since_s) / lane.stretch;
        lane.remaining_s = std::max(0.0, lane.remaining_s - played);
      }
      lane.since_s = now_s_;
      lane.stretch = stretch;
      lane.finish_s = now_s_ + lane.remaining_s * stretch;
    }
    next_s_ = std::min(next_s_, lane.finish_s);
  }
}

void Player::settle(double now_s, std::vector<Notice>& notices) {
  spend_until(now_s);
  now_s_ = now_s;
  end_due(notices);
  start_ready(notices);
  refresh();
}

Player::Head Player::stuck() const {
  const unsigned candidates = unfinished_ & ~running_;
  if (candidates == 0) return {};
  const int s = first(candidates);
  const bool waits = (waiting_ & bit(s)) != 0 && lanes_[s].wait < head(s).last_wait;
  return {lanes_[s].slot, &head(s), waits ? &score_.waits[lanes_[s].wait] : nullptr};
}

}  // namespace stepwright
