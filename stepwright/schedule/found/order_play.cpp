#include "stepwright/schedule/found/order_play.h"

#include <algorithm>

namespace stepwright::schedule {
namespace {

constexpr double kUnknown = -1;
/// Limit of the number of simulated parts over the number of parts; parts that wait for each other
/// in a circle would repeat forever.
constexpr std::int64_t kMostRounds = 4;

/// Kinds of parts: forwards, backwards (or data gradients), weight gradients.
constexpr std::int64_t kKinds = 3;
std::int64_t kind_of(Direction direction) {
  if (direction == Direction::kForward) return 0;
  return direction == Direction::kWeightGradient ? 2 : 1;
}

/// True if a start time comes first on the way forward (0) or back (1).
template <int kWay>
bool earlier(double a, double b) {
  return kWay == 0 ? a < b : a > b;
}

}  // namespace

WorkOrderSimulator::WorkOrderSimulator(const UnevenPipeline& pipeline) : pipeline_(pipeline) {
  make_nodes();
}

WorkOrderSimulator::Node WorkOrderSimulator::node(std::size_t position,
                                                  const PipelineWorkPart& part) const {
  const ModelChunkPlacement& placement = pipeline_.placement;
  const std::int64_t chunk =
      placement.model_chunk_index({static_cast<std::int64_t>(position), part.chunk});
  const std::int64_t row = kind_of(part.direction) * placement.model_chunk_count() + chunk;
  return static_cast<Node>(row * pipeline_.micro_batches + part.micro_batch);
}

void WorkOrderSimulator::make_nodes() {
  const std::vector<ModelChunkRemainingTime> routes = model_chunk_remaining_times(pipeline_);
  const std::int64_t chunks = std::ssize(routes);
  const std::int64_t count = pipeline_.micro_batches;
  const auto nodes = static_cast<std::size_t>(kKinds * chunks * count);
  const auto lanes = pipeline_.seconds.parts.size();
  for (int way = 0; way < 2; ++way) {
    lane_[way].assign(nodes, kNone);
    awaited_[way].assign(nodes, kNone);
    hop_s_[way].assign(nodes, 0);
    value_s_[way].assign(nodes, kUnknown);
    ends_[way].assign(lanes, kNone);
  }
  own_s_.assign(nodes, 0);
  keys_s_.assign(nodes, 0);
  turns_.assign(nodes, false);
  front_.assign(lanes, kNone);
  until_s_.assign(lanes, 0);
  for (const Direction direction :
       {Direction::kForward, Direction::kBackward, Direction::kWeightGradient}) {
    for (const ModelChunkRemainingTime& route : routes) {
      for (std::int64_t i = 0; i < count; ++i) {
        parts_.push_back(make_schedule_work_item(direction, route.holder.chunk, i));
        positions_.push_back(static_cast<std::size_t>(route.holder.position));
      }
    }
  }
  const auto wait = [&](std::int64_t row, std::int64_t awaited, double hop_s) {
    for (std::int64_t i = 0; i < count; ++i) {
      const auto own = static_cast<Node>(row * count + i);
      const auto other = static_cast<Node>(awaited * count + i);
      awaited_[0][at(own)] = other;
      awaited_[1][at(other)] = own;
      hop_s_[0][at(own)] = hop_s_[1][at(other)] = hop_s;
    }
  };
  for (std::int64_t chunk = 1; chunk < chunks; ++chunk) {
    const double hop_s = routes[static_cast<std::size_t>(chunk)].hop_s;
    wait(chunk, chunk - 1, hop_s);
    wait(chunks + chunk - 1, chunks + chunk, hop_s);
  }
  wait(2 * chunks - 1, chunks - 1, 0);
}

/// Links `parts` between two neighbours in the order of a position.
void WorkOrderSimulator::link(std::size_t position, Node before, Node after,
                              std::span<const PipelineWorkPart> parts) {
  const auto join = [&](Node a, Node b) {
    (a == kNone ? ends_[0][position] : lane_[1][at(a)]) = b;
    (b == kNone ? ends_[1][position] : lane_[0][at(b)]) = a;
  };
  for (const PipelineWorkPart& part : parts) {
    const Node own = node(position, part);
    parts_[at(own)] = part;
    turns_[at(own)] = true;
    own_s_[at(own)] =
        pipeline_.seconds.parts[position][static_cast<std::size_t>(part.chunk)].of(part.direction);
    join(before, own);
    before = own;
  }
  join(before, after);
}

/// Returns the time at which a part begins; on the way back, the time from its own end to the
/// makespan.
template <int kWay>
double WorkOrderSimulator::reach_s(Node node) const {
  const Node before = lane_[kWay][at(node)];
  const Node awaited = awaited_[kWay][at(node)];
  const double free_s = before == kNone ? 0 : value_s_[kWay][at(before)];
  if (awaited == kNone) return free_s;
  return std::max(free_s, value_s_[kWay][at(awaited)] + hop_s_[kWay][at(node)]);
}

double WorkOrderSimulator::start_s(Node node) const { return reach_s<0>(node); }

/// Simulates all parts; returns false if parts wait for each other in a circle.
template <int kWay>
bool WorkOrderSimulator::fill() {
  value_s_[kWay].assign(value_s_[kWay].size(), kUnknown);
  front_ = ends_[kWay];
  for (bool moved = true; moved;) {
    moved = false;
    for (Node& front : front_) {
      for (; front != kNone; front = lane_[1 - kWay][at(front)]) {
        const Node awaited = awaited_[kWay][at(front)];
        if (awaited != kNone && value_s_[kWay][at(awaited)] < 0) break;
        const double reached_s = reach_s<kWay>(front);
        if (kWay == 0) keys_s_[at(front)] = reached_s;
        value_s_[kWay][at(front)] = reached_s + own_s_[at(front)];
        ++played_;
        moved = true;
      }
    }
  }
  return std::ranges::all_of(front_, [](Node front) { return front == kNone; });
}

double WorkOrderSimulator::last_s() const {
  double last_s = 0;
  for (const Node node : ends_[1]) {
    if (node != kNone) last_s = std::max(last_s, end_s(node));
  }
  return last_s;
}

double WorkOrderSimulator::simulate_given_orders(std::span<const Order> orders) {
  turns_.assign(turns_.size(), false);
  for (std::size_t i = 0; i < orders.size(); ++i) link(i, kNone, kNone, orders[i]);
  rests_known_ = false;
  seconds_ = fill<0>() ? last_s() : kNever;
  front_.assign(front_.size(), kNone);
  return seconds_;
}

/// Marks a part to be simulated again.
template <int kWay>
void WorkOrderSimulator::mark(Node node) {
  const std::size_t position = positions_[at(node)];
  const double key_s = keys_s_[at(node)];
  Node& front = front_[position];
  double& until_s = until_s_[position];
  if (front == kNone || earlier<kWay>(until_s, key_s)) until_s = key_s;
  if (front != kNone) {
    const double front_s = keys_s_[at(front)];
    if (earlier<kWay>(until_s, front_s)) until_s = front_s;
    if (earlier<kWay>(front_s, key_s)) return;
  }
  // Go to the first part with the same start time.
  for (front = node;;) {
    const Node before = lane_[kWay][at(front)];
    if (before == kNone || keys_s_[at(before)] != key_s) return;
    front = before;
  }
}

/// Simulates a part; returns false if the makespan would exceed the limit.
template <int kWay>
bool WorkOrderSimulator::step(Node node, double limit_s) {
  ++played_;
  const std::size_t position = positions_[at(node)];
  const Node next = lane_[1 - kWay][at(node)];
  const double reached_s = reach_s<kWay>(node);
  double& value_s = value_s_[kWay][at(node)];
  const double now_s = reached_s + own_s_[at(node)];
  if (now_s == value_s) {
    const bool more = next != kNone && !earlier<kWay>(until_s_[position], keys_s_[at(next)]);
    front_[position] = more ? next : kNone;
    return true;
  }
  if (kWay == 0) changed_.emplace_back(node, value_s);
  value_s = now_s;
  front_[position] = next;
  if (kWay == 0 && reached_s + value_s_[1][at(node)] > limit_s &&
      (position == position_ || keys_s_[at(node)] > since_s_)) {
    return false;
  }
  const Node waiting = awaited_[1 - kWay][at(node)];
  if (waiting != kNone) mark<kWay>(waiting);
  return true;
}

/// Simulates the marked parts in order of start time, and all parts that they move; returns false
/// if the limit is exceeded.
template <int kWay>
bool WorkOrderSimulator::sweep(double limit_s) {
  for (std::int64_t steps = 0; steps < kMostRounds * possible_part_count(); ++steps) {
    Node first = kNone;
    for (const Node front : front_) {
      if (front == kNone) continue;
      if (first == kNone || earlier<kWay>(keys_s_[at(front)], keys_s_[at(first)])) first = front;
    }
    if (first == kNone) return true;
    if (!step<kWay>(first, limit_s)) return false;
  }
  return false;
}

double WorkOrderSimulator::try_replace_parts(Node first, Node last,
                                             std::span<const PipelineWorkPart> parts,
                                             double limit_s) {
  if (!rests_known_) {
    fill<1>();
    rests_known_ = true;
  }
  position_ = positions_[at(first)];
  const Node before = lane_[0][at(first)];
  const Node after = lane_[1][at(last)];
  replaced_.clear();
  for (Node each = first; each != after; each = lane_[1][at(each)]) {
    replaced_.push_back({parts_[at(each)], keys_s_[at(each)], value_s_[1][at(each)]});
    turns_[at(each)] = false;
  }
  link(position_, before, after, parts);
  prepare(after, parts);
  const bool in_time = sweep<0>(limit_s * (1 + kSumRoundingTolerance));
  const double seconds = in_time ? last_s() : kNever;
  if (seconds > limit_s) {
    undo(before, after, parts);
    return kNever;
  }
  for (const auto& [each, ended_s] : changed_) keys_s_[at(each)] = reach_s<0>(each);
  for (const PipelineWorkPart& part : parts) {
    const Node each = node(position_, part);
    keys_s_[at(each)] = reach_s<0>(each);
    value_s_[1][at(each)] = kUnknown;
  }
  const Node end = before == kNone ? ends_[0][position_] : before;
  look_at(node(position_, parts.back()), keys_s_[at(end)]);
  sweep<1>(kNever);
  return seconds_ = seconds;
}

/// Marks only one part, and those after it up to a start time.
void WorkOrderSimulator::look_at(Node node, double until_s) {
  front_.assign(front_.size(), kNone);
  front_[position_] = node;
  until_s_[position_] = until_s;
}

/// Marks the new parts, with the start times of the parts that they replace. A lower bound of the
/// time after each new part is known from the parts that follow.
void WorkOrderSimulator::prepare(Node after, std::span<const PipelineWorkPart> parts) {
  since_s_ = replaced_.back().key_s;
  changed_.clear();
  Node next = after;
  for (std::size_t i = parts.size(); i-- > 0;) {
    const Node each = node(position_, parts[i]);
    keys_s_[at(each)] = replaced_[std::min(i, replaced_.size() - 1)].key_s;
    double rest_s = next == kNone ? 0 : value_s_[1][at(next)];
    const Node waiting = awaited_[1][at(each)];
    if (waiting != kNone && keys_s_[at(waiting)] > since_s_) {
      rest_s = std::max(rest_s, value_s_[1][at(waiting)] + hop_s_[1][at(each)]);
    }
    value_s_[1][at(each)] = rest_s + own_s_[at(each)];
    next = each;
  }
  look_at(next, after == kNone ? since_s_ : keys_s_[at(after)]);
}

void WorkOrderSimulator::undo(Node before, Node after, std::span<const PipelineWorkPart> parts) {
  for (auto each = changed_.rbegin(); each != changed_.rend(); ++each) {
    value_s_[0][at(each->first)] = each->second;
  }
  std::vector<PipelineWorkPart> old;
  for (const PipelineWorkPart& part : parts) turns_[at(node(position_, part))] = false;
  for (const Replaced& each : replaced_) old.push_back(each.part);
  link(position_, before, after, old);
  for (const Replaced& each : replaced_) {
    const Node own = node(position_, each.part);
    keys_s_[at(own)] = each.key_s;
    value_s_[1][at(own)] = each.rest_s;
  }
}

std::vector<Order> WorkOrderSimulator::orders() const {
  std::vector<Order> orders;
  for (Node each : ends_[0]) {
    Order& order = orders.emplace_back();
    for (; each != kNone; each = lane_[1][at(each)]) order.push_back(parts_[at(each)]);
  }
  return orders;
}

std::vector<WorkOrderSimulator::Node> WorkOrderSimulator::critical_path() const {
  Node own = ends_[1].front();
  for (const Node last : ends_[1]) {
    if (end_s(last) > end_s(own)) own = last;
  }
  std::vector<Node> chain{own};
  while (start_s(own) > 0) {
    const Node before = lane_[0][at(own)];
    const Node awaited = awaited_[0][at(own)];
    own = before != kNone && (awaited == kNone || end_s(before) >= start_s(own)) ? before : awaited;
    if (own == kNone) break;  // A start time that is not finite has no part before it.
    chain.push_back(own);
  }
  return chain;
}

}  // namespace stepwright::schedule
