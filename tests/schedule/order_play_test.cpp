#include "stepwright/schedule/found/order_play.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "stepwright/schedule/facts.h"
#include "stepwright/schedule/found/all_turns.h"
#include "stepwright/schedule/turn_play.h"

namespace stepwright::schedule {
namespace {

constexpr std::int64_t kStages = 4;
constexpr std::int64_t kMicroBatches = 8;

/// Returns a pipeline with two chunks per position, in whole and half units of time so that sums
/// are exact.
UnevenPipeline random_pipeline(std::mt19937& random, ModelChunkPlacementKind placement) {
  const auto units = [&](int most) {
    return 0.5 * std::uniform_int_distribution<int>(1, most)(random);
  };
  PipelineScheduleSeconds seconds{.parts = {}, .hop_s = units(2)};
  for (std::int64_t i = 0; i < kStages; ++i) {
    std::vector<ModelChunkWorkSeconds>& position = seconds.parts.emplace_back();
    for (int chunk = 0; chunk < 2; ++chunk) {
      position.push_back(
          {.forward = units(6), .backward = units(8), .data = units(6), .weight = units(4)});
    }
  }
  return activation_limited_pipeline({placement, kStages, 2}, kMicroBatches, seconds, 4);
}

double turns_s(const UnevenPipeline& pipeline, const std::vector<Order>& orders) {
  std::vector<Turns> turns;
  for (const Order& order : orders) {
    Turns& list = turns.emplace_back();
    for (const PipelineWorkPart& part : order)
      list.push_back({.part = part, .beside = std::nullopt});
  }
  ScheduleTurnSimulator player;
  return makespan_s(player.turn_end_seconds(turns, pipeline.placement, pipeline.seconds));
}

/// Returns an order with two neighbouring parts of a position swapped; nullopt: at the end.
std::optional<std::vector<PipelineWorkPart>> swapped(const WorkOrderSimulator& play,
                                                     WorkOrderSimulator::Node first) {
  const WorkOrderSimulator::Node second = play.after(first);
  if (second == WorkOrderSimulator::kNone) return std::nullopt;
  const PipelineWorkPart& a = play.part(first);
  const PipelineWorkPart& b = play.part(second);
  if (a.chunk == b.chunk && a.micro_batch == b.micro_batch) return std::nullopt;
  return std::vector<PipelineWorkPart>{b, a};
}

/// Splits a backward pass (with its weight gradients at once), or merges a split one.
std::pair<WorkOrderSimulator::Node, std::vector<PipelineWorkPart>> recut(
    const WorkOrderSimulator& play, WorkOrderSimulator::Node first) {
  PipelineWorkPart part = play.part(first);
  if (part.direction == Direction::kBackward) {
    PipelineWorkPart weight = part;
    part.direction = Direction::kDataGradient;
    weight.direction = Direction::kWeightGradient;
    return {first, {part, weight}};
  }
  std::vector<PipelineWorkPart> parts{part};
  parts.front().direction = Direction::kBackward;
  WorkOrderSimulator::Node last = play.after(first);
  for (;; last = play.after(last)) {
    const PipelineWorkPart& each = play.part(last);
    if (each.direction == Direction::kWeightGradient && each.chunk == part.chunk &&
        each.micro_batch == part.micro_batch) {
      return {last, parts};
    }
    parts.push_back(each);
  }
}

/// Returns orders in which the parts from one to another are replaced.
std::vector<Order> replaced(const WorkOrderSimulator& play, WorkOrderSimulator::Node first,
                            WorkOrderSimulator::Node last,
                            const std::vector<PipelineWorkPart>& parts) {
  std::vector<Order> orders = play.orders();
  Order& order = orders[play.position(first)];
  const auto begin = std::ranges::find(order, play.part(first));
  const auto end = std::ranges::find(order, play.part(last)) + 1;
  order.insert(order.erase(begin, end), parts.begin(), parts.end());
  return orders;
}

// After any accepted change, the result equals that of `ScheduleTurnSimulator` for all turns, and
// never exceeds the limit. A refused change would be longer, and leaves everything unchanged. A
// chain of parts without gaps explains the length.
TEST(OrderPlay, PlaysChangesAsTurnPlayerPlaysAll) {
  std::mt19937 random(5);
  int taken = 0;
  int refused = 0;
  for (const ModelChunkPlacementKind placement :
       {ModelChunkPlacementKind::kV, ModelChunkPlacementKind::kCyclic}) {
    const UnevenPipeline pipeline = random_pipeline(random, placement);
    const PipelineSchedule named{.kind = placement == ModelChunkPlacementKind::kV
                                             ? PipelineScheduleKind::kZeroBubbleV
                                             : PipelineScheduleKind::kPaired,
                                 .chunks = 2};
    std::vector<Order> orders;
    for (const Turns& list : schedule_turns_of_positions(named, kStages, kMicroBatches)) {
      orders.push_back(work_items_in_issue_order(list));
    }
    WorkOrderSimulator play(pipeline);
    EXPECT_DOUBLE_EQ(play.simulate_given_orders(orders), turns_s(pipeline, orders));
    for (int i = 0; i < 4000; ++i) {
      const auto node =
          static_cast<WorkOrderSimulator::Node>(random() % play.possible_part_count());
      const double limit_s = play.seconds() + 0.5 * static_cast<double>(random() % 3);
      if (!play.is_part_in_schedule_order(node)) continue;
      const Direction direction = play.part(node).direction;
      WorkOrderSimulator::Node last = play.after(node);
      std::vector<PipelineWorkPart> parts;
      if (direction != Direction::kForward && direction != Direction::kWeightGradient &&
          random() % 3 == 0) {
        std::tie(last, parts) = recut(play, node);
      } else if (const auto both = swapped(play, node)) {
        parts = *both;
      } else {
        continue;
      }
      const std::vector<Order> before = play.orders();
      const double before_s = play.seconds();
      const double seconds = play.try_replace_parts(node, last, parts, limit_s);
      if (seconds == WorkOrderSimulator::kNever) {
        ++refused;
        ASSERT_EQ(play.orders(), before);
        ASSERT_EQ(play.seconds(), before_s);
        ASSERT_GT(
            WorkOrderSimulator(pipeline).simulate_given_orders(replaced(play, node, last, parts)),
            limit_s);
      } else {
        ++taken;
        EXPECT_LE(seconds, limit_s);
      }
      ASSERT_DOUBLE_EQ(play.seconds(), turns_s(pipeline, play.orders()));
    }
    const auto chain = play.critical_path();
    EXPECT_DOUBLE_EQ(play.end_s(chain.front()), play.seconds());
    EXPECT_DOUBLE_EQ(play.start_s(chain.back()), 0);
  }
  EXPECT_GT(taken, 200);
  EXPECT_GT(refused, 200);
}

}  // namespace
}  // namespace stepwright::schedule
