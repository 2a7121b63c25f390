#include "stepwright/collective/play.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "stepwright/collective/link_map.h"
#include "stepwright/core/error.h"

namespace stepwright {
namespace {

/// Flows that end this close to each other, relative to the time, end together.
constexpr double kTogether = 1e-12;

class SchedulePlay {
 public:
  SchedulePlay(const CollectiveSchedule& schedule, const Cluster& cluster,
               const PlaySetting& setting)
      : schedule_(schedule),
        links_(cluster, setting.full_duplex),
        piece_bytes_(setting.payload_bytes / schedule.pieces),
        message_s_(setting.message_s),
        ranks_(schedule.ranks.size()) {
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      ranks_[r].resize(schedule.ranks[r].channels.size());
    }
  }

  double run() {
    for (std::int32_t r = 0; r < std::ssize(ranks_); ++r) awake_.push_back(r);
    start_all();
    while (!flows_.empty() || !starts_.empty() || !arrivals_.empty()) {
      step_to(next_time());
      start_all();
    }
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      for (std::size_t c = 0; c < ranks_[r].size(); ++c) {
        if (ranks_[r][c].over == std::ssize(schedule_.ranks[r].channels[c].steps)) continue;
        throw Error(ErrorKind::kRuntime, fmt::format("rank {} never ends channel {}", r, c));
      }
    }
    return now_;
  }

 private:
  struct ChannelState {
    std::int32_t next = 0;   ///< The step to start.
    std::int32_t over = 0;   ///< Steps that are over.
    std::size_t waited = 0;  ///< Waits that are over.
    bool busy = false;       ///< Bytes of the step before `next` are still on their way.
    double last_s = 0;       ///< When the last step that arrives does.
  };
  struct Flow {
    std::int32_t from;
    std::size_t from_channel;
    std::int32_t to;
    std::size_t to_channel;
    LinkPath path;
    double bytes;
    double rate = 0;
  };
  /// Time, rank, channel.
  using Arrival = std::tuple<double, std::int32_t, std::size_t>;

  [[nodiscard]] const ScheduleChannel& channel(std::int32_t rank, std::size_t c) const {
    return schedule_.ranks[static_cast<std::size_t>(rank)].channels[c];
  }
  ChannelState& state(std::int32_t rank, std::size_t c) {
    return ranks_[static_cast<std::size_t>(rank)][c];
  }

  /// The next step of a channel if nothing on this rank holds it back.
  const ScheduleStep* head(std::int32_t rank, std::size_t c) {
    const ScheduleChannel& from = channel(rank, c);
    ChannelState& own = state(rank, c);
    if (own.busy || own.next == std::ssize(from.steps)) return nullptr;
    for (; own.waited < from.waits.size(); ++own.waited) {
      const StepWait& wait = from.waits[own.waited];
      if (wait.step > own.next) break;
      if (state(rank, static_cast<std::size_t>(wait.on.channel)).over <= wait.on.step) {
        return nullptr;
      }
    }
    const ScheduleStep& step = from.steps[static_cast<std::size_t>(own.next)];
    if (own.over < own.next) {
      const ScheduleStep& before = from.steps[static_cast<std::size_t>(own.next) - 1];
      const bool follows = (sends(step) && sends(before)) || (receives(step) && receives(before));
      if (!follows) return nullptr;
    }
    return &step;
  }

  void start_all() {
    const std::size_t before = flows_.size();
    while (!awake_.empty()) {
      const std::int32_t rank = awake_.back();
      awake_.pop_back();
      for (bool progress = true; progress;) {
        progress = false;
        for (std::size_t c = 0; c < ranks_[static_cast<std::size_t>(rank)].size(); ++c) {
          const ScheduleStep* step = head(rank, c);
          if (step != nullptr && start(rank, c, *step)) progress = true;
        }
      }
    }
    changed_ |= flows_.size() != before;
    if (changed_) share_links();
    changed_ = false;
  }

  bool start(std::int32_t rank, std::size_t c, const ScheduleStep& step) {
    if (!sends(step) && !receives(step)) {
      ++state(rank, c).next;
      ++state(rank, c).over;
      return true;
    }
    for (std::size_t o = 0; o < ranks_[static_cast<std::size_t>(step.peer)].size(); ++o) {
      if (channel(step.peer, o).lane != channel(rank, c).lane) continue;
      const ScheduleStep* other = head(step.peer, o);
      if (other == nullptr || other->peer != rank || sends(step) == sends(*other)) continue;
      if (sends(step)) {
        begin({rank, c, step.peer, o, {}, step.pieces * piece_bytes_});
      } else {
        begin({step.peer, o, rank, c, {}, step.pieces * piece_bytes_});
      }
      return true;
    }
    return false;
  }

  void begin(Flow flow) {
    flow.path = links_.path(flow.from, flow.to);
    for (const auto& [rank, c] :
         {std::pair(flow.from, flow.from_channel), std::pair(flow.to, flow.to_channel)}) {
      ++state(rank, c).next;
      state(rank, c).busy = true;
    }
    if (message_s_ > 0) {
      starts_.push_back({now_ + message_s_, flow});
    } else {
      flows_.push_back(flow);
    }
  }

  /// Each link shared equally; a flow has the least of its shares.
  void share_links() {
    counts_.assign(links_.size(), 0);
    for (const Flow& flow : flows_) {
      for (std::int32_t i = 0; i < flow.path.count; ++i) ++counts_[index(flow, i)];
    }
    for (Flow& flow : flows_) {
      flow.rate = INFINITY;
      for (std::int32_t i = 0; i < flow.path.count; ++i) {
        const double rate = links_.bytes_per_s(flow.path.links[static_cast<std::size_t>(i)]);
        flow.rate = std::min(flow.rate, rate / counts_[index(flow, i)]);
      }
    }
  }

  static std::size_t index(const Flow& flow, std::int32_t i) {
    return static_cast<std::size_t>(flow.path.links[static_cast<std::size_t>(i)]);
  }

  [[nodiscard]] double next_time() const {
    double next = arrivals_.empty() ? INFINITY : std::get<0>(arrivals_.top());
    if (!starts_.empty()) next = std::min(next, starts_.front().first);
    for (const Flow& flow : flows_) next = std::min(next, now_ + flow.bytes / flow.rate);
    return next;
  }

  void step_to(double time) {
    const double late = time * (1 + kTogether);
    for (std::size_t i = 0; i < flows_.size();) {
      Flow& flow = flows_[i];
      const bool ends = now_ + flow.bytes / flow.rate <= late;
      flow.bytes = std::max(0.0, flow.bytes - (time - now_) * flow.rate);
      if (!ends) {
        ++i;
        continue;
      }
      end(flow, time);
      flow = flows_.back();
      flows_.pop_back();
      changed_ = true;
    }
    now_ = time;
    for (; !starts_.empty() && starts_.front().first <= late; starts_.pop_front()) {
      flows_.push_back(starts_.front().second);
      changed_ = true;
    }
    while (!arrivals_.empty() && std::get<0>(arrivals_.top()) <= late) {
      const auto [when, rank, c] = arrivals_.top();
      arrivals_.pop();
      ++state(rank, c).over;
      awake_.push_back(rank);
    }
  }

  void end(const Flow& flow, double time) {
    ChannelState& from = state(flow.from, flow.from_channel);
    from.busy = false;
    from.over = from.next;
    ChannelState& to = state(flow.to, flow.to_channel);
    to.busy = false;
    to.last_s = std::max(to.last_s, time + flow.path.latency_s);
    arrivals_.push({to.last_s, flow.to, flow.to_channel});
    awake_.push_back(flow.from);
    awake_.push_back(flow.to);
  }

  const CollectiveSchedule& schedule_;
  LinkMap links_;
  double piece_bytes_;
  double message_s_;
  std::vector<std::vector<ChannelState>> ranks_;
  std::deque<std::pair<double, Flow>> starts_;  ///< Flows to be, and when.
  std::vector<Flow> flows_;
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals_;
  std::vector<std::int32_t> awake_;
  std::vector<std::int32_t> counts_;
  bool changed_ = false;
  double now_ = 0;
};

}  // namespace

double play_seconds(const CollectiveSchedule& schedule, const Cluster& cluster,
                    const PlaySetting& setting) {
  if (std::ssize(schedule.ranks) > cluster.devices()) {
    fail_input(fmt::format("a schedule of {} ranks does not fit {} devices", schedule.ranks.size(),
                           cluster.devices()));
  }
  return SchedulePlay(schedule, cluster, setting).run();
}

}  // namespace stepwright
