#include "stepwright/schedule/found/order_play.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "stepwright/schedule/facts.h"
#include "stepwright/schedule/turn_play.h"

namespace stepwright {
namespace {

constexpr std::int64_t kStages = 4;
constexpr std::int64_t kMicroBatches = 9;

/// Two chunks a position, of whole and half units so that sums are exact.
UnevenPipeline random_pipeline(std::mt19937& random, PlacementKind placement) {
  const auto units = [&](int most) {
    return 0.5 * std::uniform_int_distribution<int>(1, most)(random);
  };
  TurnSeconds seconds{.parts = {}, .hop_s = units(2)};
  for (std::int64_t i = 0; i < kStages; ++i) {
    std::vector<PartSeconds>& position = seconds.parts.emplace_back();
    for (int chunk = 0; chunk < 2; ++chunk) {
      position.push_back(
          {.forward = units(6), .backward = units(8), .data = units(6), .weight = units(4)});
    }
  }
  return evenly_held({placement, kStages, 2}, kMicroBatches, seconds, 4);
}

double turns_s(const UnevenPipeline& pipeline, const std::vector<Order>& orders) {
  std::vector<Turns> turns;
  for (const Order& order : orders) {
    Turns& list = turns.emplace_back();
    for (const Part& part : order) list.push_back({.part = part, .beside = std::nullopt});
  }
  TurnPlayer player;
  return makespan_s(player.play(turns, pipeline.placement, pipeline.seconds));
}

// After any change that it takes it is what `TurnPlayer` says of all turns, never above the limit;
// a chain of parts that leave no time between them explains it.
TEST(OrderPlay, PlaysChangesAsTurnPlayerPlaysAll) {
  std::mt19937 random(5);
  int taken = 0;
  for (const PlacementKind placement : {PlacementKind::kV, PlacementKind::kCyclic}) {
    const UnevenPipeline pipeline = random_pipeline(random, placement);
    const Schedule named{
        .kind = placement == PlacementKind::kV ? ScheduleKind::kZeroBubbleV : ScheduleKind::kPaired,
        .chunks = 2};
    const std::int64_t micro_batches = placement == PlacementKind::kV ? kMicroBatches : 8;
    std::vector<Order> orders;
    for (const Turns& list : all_turns(named, kStages, micro_batches)) {
      orders.push_back(parts_of(list));
    }
    OrderPlay play(pipeline);
    EXPECT_DOUBLE_EQ(play.start(orders), turns_s(pipeline, orders));
    for (int i = 0; i < 2000; ++i) {
      const auto position = static_cast<std::size_t>(random() % kStages);
      Order changed = play.orders()[position];
      const auto at = static_cast<std::size_t>(random() % (changed.size() - 1));
      std::swap(changed[at], changed[at + 1]);
      const Part& a = changed[at];
      const Part& b = changed[at + 1];
      if (a.chunk == b.chunk && a.micro_batch == b.micro_batch) continue;
      const double limit_s = play.seconds() + 0.5 * static_cast<double>(random() % 3);
      const double seconds = play.change(position, changed, at, limit_s);
      if (seconds == OrderPlay::kNever) continue;
      ++taken;
      EXPECT_LE(seconds, limit_s);
      ASSERT_DOUBLE_EQ(seconds, turns_s(pipeline, play.orders()));
    }
    const auto chain = play.critical();
    const auto [last, index] = chain.front();
    EXPECT_DOUBLE_EQ(play.starts(last)[index] + play.of(last, play.orders()[last][index]),
                     play.seconds());
    EXPECT_DOUBLE_EQ(play.starts(chain.back().position)[chain.back().index], 0);
  }
  EXPECT_GT(taken, 100);
}

}  // namespace
}  // namespace stepwright
