#include "stepwright/schedule/found/order_search.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace stepwright::schedule {
namespace {

/// Largest number of places by which a part is moved.
constexpr std::int64_t kFarthest = 8;
/// Largest number of places by which a weight gradient is postponed when a backward is split.
constexpr std::int64_t kFarthestWeight = 16;
/// Number of picks from one critical path; equal orders may have other critical paths.
constexpr int kPicks = 32;
constexpr double kCutRounding = 1e-12;
/// Number of simulated parts that take as long as choosing a change.
constexpr std::int64_t kTry = 8;

}  // namespace

double WorkOrderSearch::improve_order_from_best_orders(std::span<const Order> orders) {
  for (std::size_t i = 0; i < orders.size(); ++i) {
    KeptMemoryTracker keeping(pipeline_, i);
    for (const PipelineWorkPart& part : orders[i]) {
      keeping.run(part);
      kept_[static_cast<std::size_t>(play_.node(i, part))] = keeping.now();
    }
  }
  chain_s_ = WorkOrderSimulator::kNever;
  return play_.simulate_given_orders(orders);
}

bool WorkOrderSearch::take(Node first, Node last, std::span<const PipelineWorkPart> parts) {
  const std::size_t position = play_.position(first);
  const Node before = play_.before(first);
  const double kept =
      before == WorkOrderSimulator::kNone ? 0 : kept_[static_cast<std::size_t>(before)];
  if (!has_free_activation_memory(pipeline_, position, parts, kept)) return false;
  if (play_.try_replace_parts(first, last, parts, play_.seconds()) == WorkOrderSimulator::kNever)
    return false;
  KeptMemoryTracker keeping(pipeline_, position, kept);
  for (const PipelineWorkPart& part : parts) {
    keeping.run(part);
    kept_[static_cast<std::size_t>(play_.node(position, part))] = keeping.now();
  }
  return true;
}

bool WorkOrderSearch::costs_to_cut(Node node) const {
  const ModelChunkWorkSeconds& seconds =
      pipeline_.seconds
          .parts[play_.position(node)][static_cast<std::size_t>(play_.part(node).chunk)];
  return seconds.data + seconds.weight > seconds.backward * (1 + kCutRounding);
}

bool WorkOrderSearch::move(Node node) {
  const std::int64_t far = below(2 * kFarthest + 1) - kFarthest;
  const PipelineWorkPart& own = play_.part(node);
  parts_.assign(1, own);
  Node end = node;
  for (std::int64_t i = 0; i < std::abs(far); ++i) {
    end = far < 0 ? play_.before(end) : play_.after(end);
    if (end == WorkOrderSimulator::kNone || play_.parts_depend_on_each_other(node, end))
      return false;
    const PipelineWorkPart& passed = play_.part(end);
    if (passed.chunk == own.chunk && passed.micro_batch == own.micro_batch) return false;
    parts_.push_back(passed);
  }
  if (far == 0) return false;
  if (far > 0) {
    std::rotate(parts_.begin(), parts_.begin() + 1, parts_.end());
    return take(node, end, parts_);
  }
  std::reverse(parts_.begin() + 1, parts_.end());
  return take(end, node, parts_);
}

bool WorkOrderSearch::cut(Node node) {
  parts_.assign(1, play_.part(node));
  const std::int64_t far = below(kFarthestWeight);
  Node last = node;
  for (std::int64_t i = 0; i < far && play_.after(last) != WorkOrderSimulator::kNone; ++i) {
    last = play_.after(last);
    parts_.push_back(play_.part(last));
  }
  parts_.push_back(parts_.front());
  parts_.front().direction = Direction::kDataGradient;
  parts_.back().direction = Direction::kWeightGradient;
  return take(node, last, parts_);
}

bool WorkOrderSearch::join_split_backwards(Node node) {
  parts_.assign(1, play_.part(node));
  PipelineWorkPart weight = parts_.front();
  weight.direction = Direction::kWeightGradient;
  const Node last = play_.node(play_.position(node), weight);
  for (Node each = play_.after(node); each != last; each = play_.after(each)) {
    parts_.push_back(play_.part(each));
  }
  parts_.front().direction = Direction::kBackward;
  return take(node, last, parts_);
}

void WorkOrderSearch::join_split_backwards() {
  for (std::size_t position = pipeline_.room.size(); position-- > 0;) {
    for (Node each = play_.last(position); each != WorkOrderSimulator::kNone;
         each = play_.before(each)) {
      if (play_.part(each).direction == Direction::kDataGradient && costs_to_cut(each))
        join_split_backwards(each);
    }
  }
}

/// Picks a part to change: three of four picks are from a critical path, which no change elsewhere
/// can shorten.
WorkOrderSimulator::Node WorkOrderSearch::pick() {
  Node node = static_cast<Node>(below(play_.possible_part_count()));
  if (below(4) > 0) {
    if (picked_ == kPicks || play_.seconds() < chain_s_) {
      chain_ = play_.critical_path();
      chain_s_ = play_.seconds();
      picked_ = 0;
    }
    ++picked_;
    node = chain_[static_cast<std::size_t>(below(std::ssize(chain_)))];
  }
  if (play_.is_part_in_schedule_order(node)) return node;
  PipelineWorkPart backward = play_.part(node);
  backward.direction = Direction::kBackward;
  return play_.node(play_.position(node), backward);
}

void WorkOrderSearch::improve_order_by_random_changes(std::int64_t most_played, double least_s) {
  while (simulated_work_item_count() < most_played && play_.seconds() > least_s) {
    tried_ += kTry;
    const Node node = pick();
    const Direction direction = play_.part(node).direction;
    const bool try_replace_parts =
        direction != Direction::kForward && costs_to_cut(node) && below(2) == 0;
    if (try_replace_parts && direction == Direction::kBackward) {
      cut(node);
    } else if (try_replace_parts && direction == Direction::kDataGradient) {
      join_split_backwards(node);
    } else {
      move(node);
    }
  }
}

}  // namespace stepwright::schedule
