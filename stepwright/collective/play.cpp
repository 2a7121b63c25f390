#include "stepwright/collective/play.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <queue>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "stepwright/collective/definition.h"
#include "stepwright/collective/fair_share.h"
#include "stepwright/collective/link_map.h"
#include "stepwright/core/error.h"

namespace stepwright::collective {
namespace {

/// Relative difference of end times below which flows end together.
constexpr double kTogether = 1e-12;

/// The simulated ranks of a schedule's group: all of them, or those of the first node, which then
/// represent all other nodes.
struct PlayedGroup {
  std::int32_t ranks = 0;
  /// True if nodes whose numbers differ in one bit exchange messages; false: nodes at one distance.
  bool mirrored = false;
};

class SchedulePlay {
 public:
  SchedulePlay(const CollectiveSchedule& schedule, const PlayedGroup& group,
               const cluster::Cluster& cluster, const CollectiveSimulationOptions& setting)
      : schedule_(schedule),
        group_(group),
        played_(static_cast<std::int32_t>(std::ssize(schedule.ranks))),
        links_(cluster, setting.full_duplex,
               played_ < group.ranks ? LinkMap::NodeLinkSharing::kOneForAll
                                     : LinkMap::NodeLinkSharing::kEach),
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
    std::int32_t next = 0;   ///< Index of the step to start next.
    std::int32_t over = 0;   ///< Number of completed steps.
    std::size_t waited = 0;  ///< Number of waits that are over.
    bool busy = false;       ///< True if bytes of the step before `next` are still in flight.
    double last_s = 0;       ///< Time in seconds at which the last arriving step arrives.
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
  /// Time, rank and channel of an arrival.
  using Arrival = std::tuple<double, std::int32_t, std::size_t>;

  [[nodiscard]] const RankStepSequence& channel(std::int32_t rank, std::size_t c) const {
    return schedule_.ranks[static_cast<std::size_t>(rank)].channels[c];
  }
  ChannelState& state(std::int32_t rank, std::size_t c) {
    return ranks_[static_cast<std::size_t>(rank)][c];
  }

  /// Returns the next step of a channel if nothing on this rank delays it; else null.
  const CollectiveScheduleStep* head(std::int32_t rank, std::size_t c) {
    const RankStepSequence& from = channel(rank, c);
    ChannelState& own = state(rank, c);
    if (own.busy || own.next == std::ssize(from.steps)) return nullptr;
    for (; own.waited < from.waits.size(); ++own.waited) {
      const CollectiveStepDependency& wait = from.waits[own.waited];
      if (wait.step > own.next) break;
      if (state(rank, static_cast<std::size_t>(wait.on.channel)).over <= wait.on.step) {
        return nullptr;
      }
    }
    const CollectiveScheduleStep& step = from.steps[static_cast<std::size_t>(own.next)];
    if (own.over < own.next) {
      const CollectiveScheduleStep& before = from.steps[static_cast<std::size_t>(own.next) - 1];
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
          const CollectiveScheduleStep* step = head(rank, c);
          if (step != nullptr && start(rank, c, *step)) progress = true;
        }
      }
    }
    changed_ |= flows_.size() != before;
    if (changed_) share_links();
    changed_ = false;
  }

  bool start(std::int32_t rank, std::size_t c, const CollectiveScheduleStep& step) {
    if (!sends(step) && !receives(step)) {
      ++state(rank, c).next;
      ++state(rank, c).over;
      return true;
    }
    const std::int32_t peer = step.peer % played_;
    const std::int32_t seen_from_there = seen(rank, step.peer - peer);
    for (std::size_t o = 0; o < ranks_[static_cast<std::size_t>(peer)].size(); ++o) {
      if (channel(peer, o).lane != channel(rank, c).lane) continue;
      const CollectiveScheduleStep* other = head(peer, o);
      if (other == nullptr || other->peer != seen_from_there || sends(step) == sends(*other)) {
        continue;
      }
      if (sends(step)) {
        begin({rank, c, peer, o, links_.links_between_devices(rank, step.peer),
               step.pieces * piece_bytes_});
      } else {
        begin({peer, o, rank, c, links_.links_between_devices(peer, other->peer),
               step.pieces * piece_bytes_});
      }
      return true;
    }
    return false;
  }

  /// Returns `rank` in the numbering of the node that begins at `first`.
  [[nodiscard]] std::int32_t seen(std::int32_t rank, std::int32_t first) const {
    if (group_.mirrored) return rank + first;
    return (rank - first + group_.ranks) % group_.ranks;
  }

  void begin(const Flow& flow) {
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

  void share_links() {
    paths_.clear();
    for (const Flow& flow : flows_) paths_.push_back(&flow.path);
    const std::span<const double> flow_rates = fair_share_.flow_rates(links_, paths_);
    for (std::size_t i = 0; i < flows_.size(); ++i) flows_[i].rate = flow_rates[i];
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
  PlayedGroup group_;
  std::int32_t played_;
  LinkMap links_;
  double piece_bytes_;
  double message_s_;
  std::vector<std::vector<ChannelState>> ranks_;
  std::deque<std::pair<double, Flow>> starts_;  ///< Flows that start later, with their start times.
  std::vector<Flow> flows_;
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals_;
  std::vector<std::int32_t> awake_;
  MaxMinFairRates fair_share_;
  std::vector<const LinkPath*> paths_;  ///< Path of each flow.
  bool changed_ = false;
  double now_ = 0;
};

void check_room(std::int64_t ranks, const cluster::Cluster& cluster) {
  if (ranks <= cluster.devices()) return;
  fail_input(
      fmt::format("a schedule of {} ranks does not fit {} devices", ranks, cluster.devices()));
}

/// True if one level of switches joins the nodes, so that every pair of nodes has equal links.
bool has_one_network(const cluster::Cluster& cluster) {
  const auto node_levels = static_cast<std::size_t>(intra_node_level_count(cluster));
  for (std::size_t i = node_levels + 1; i < cluster.levels.size(); ++i) {
    if (cluster.levels[i - 1].size < cluster.devices()) return false;
  }
  return true;
}

}  // namespace

double simulate_collective_seconds(const CollectiveSchedule& schedule,
                                   const cluster::Cluster& cluster,
                                   const CollectiveSimulationOptions& setting) {
  check_room(std::ssize(schedule.ranks), cluster);
  const auto ranks = static_cast<std::int32_t>(std::ssize(schedule.ranks));
  return SchedulePlay(schedule, {ranks}, cluster, setting).run();
}

bool has_equal_node_schedules(const CollectiveScheduleSpec& spec, const cluster::Cluster& cluster) {
  if (definition_of(spec.method).across == NodeScheduleSymmetry::kUnlike) return false;
  return spec.tiers.size() == 2 && spec.tiers.front() == cluster.devices_per_node &&
         spec.tiers.back() <= cluster.nodes && has_one_network(cluster);
}

double simulate_generated_collective(const CollectiveScheduleSpec& spec,
                                     const cluster::Cluster& cluster,
                                     const CollectiveSimulationOptions& setting) {
  if (setting.every_rank && collective_schedule_rank_count(spec) > kMaxFullySimulatedRanks) {
    fail_input(
        fmt::format("every rank: the cluster has {} ranks; at most {} can be simulated one by one",
                    collective_schedule_rank_count(spec), kMaxFullySimulatedRanks));
  }
  if (setting.every_rank || !has_equal_node_schedules(spec, cluster)) {
    return simulate_collective_seconds(generate_collective_schedule(spec), cluster, setting);
  }
  CollectiveSchedule node = empty_collective_schedule(spec);
  for (std::int32_t rank = 0; rank < spec.tiers.front(); ++rank) {
    node.ranks.push_back(generate_rank_schedule(spec, rank));
  }
  const bool halves = definition_of(spec.method).across == NodeScheduleSymmetry::kHalves;
  return SchedulePlay(node, {collective_schedule_rank_count(spec), halves}, cluster, setting).run();
}

}  // namespace stepwright::collective
