#include "stepwright/export/mscclpp.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "stepwright/collective/generate.h"
#include "stepwright/core/error.h"
#include "tests/export/mscclpp_interpreter.h"

namespace stepwright {
namespace {

/// Numbers of which no two sums are alike by chance.
Pieces inputs_of(const CollectiveSchedule& schedule) {
  Pieces inputs(schedule.ranks.size());
  for (std::size_t rank = 0; rank < inputs.size(); ++rank) {
    for (std::int32_t piece = 0; piece < schedule.input_pieces; ++piece) {
      inputs[rank].push_back((std::int64_t{1} << (2 * rank)) * 1000 + piece);
    }
  }
  return inputs;
}

std::int64_t expected(const CollectiveSchedule& schedule, const Pieces& inputs, std::size_t rank,
                      std::size_t piece) {
  const std::size_t block = static_cast<std::size_t>(schedule.pieces) / inputs.size();
  std::int64_t sum = 0;
  switch (schedule.collective) {
    case Collective::kAllGather: return inputs[piece / block][piece % block];
    case Collective::kAllToAll: return inputs[piece / block][rank * block + piece % block];
    case Collective::kBroadcast: return inputs[0][piece];
    case Collective::kReduceScatter: piece += rank * block; break;
    default: break;
  }
  for (const auto& input : inputs) sum += input[piece];
  return sum;
}

void expect_runs(const ScheduleSpec& spec) {
  const CollectiveSchedule schedule = generate(spec);
  const Pieces inputs = inputs_of(schedule);
  const auto plan = mscclpp_plan(
      schedule, {.name = "test", .ranks_per_node = spec.tiers.front(), .most_operations = 10000});
  for (const std::uint32_t seed : {1U, 2U, 3U}) {
    const Pieces outputs = run_mscclpp(plan, inputs, seed);
    for (std::size_t rank = 0; rank < outputs.size(); ++rank) {
      for (std::size_t piece = 0; piece < outputs[rank].size(); ++piece) {
        ASSERT_EQ(outputs[rank][piece], expected(schedule, inputs, rank, piece))
            << name_of(kMethodNames, spec.method) << " rank " << rank << " piece " << piece;
      }
    }
  }
}

void expect_all_run(Method method, Collective collective) {
  for (const std::vector<std::int32_t>& tiers :
       {std::vector<std::int32_t>{2, 2}, {3, 3}, {4, 1}, {1, 4}, {2, 4}}) {
    for (const Inner inner : {Inner::kDirect, Inner::kRing}) {
      const ScheduleSpec spec{method, collective, tiers, 2, inner};
      if (!why_not(spec)) expect_runs(spec);
    }
  }
}

TEST(Mscclpp, PlansOfAllSchedulesGiveTheRightNumbers) {
  for (const auto& [method, name] : kMethodNames) {
    for (const Collective collective :
         {Collective::kAllGather, Collective::kReduceScatter, Collective::kAllReduce,
          Collective::kAllToAll, Collective::kBroadcast}) {
      expect_all_run(method, collective);
    }
  }
}

TEST(Mscclpp, ReachesRanksOfOtherNodesByPort) {
  const auto plan = mscclpp_plan(generate({Method::kHoRing, Collective::kAllGather, {2, 2}}),
                                 {.name = "ho-ring", .ranks_per_node = 2});
  const auto& channels = plan.at("gpus").at(0).at("channels");
  ASSERT_EQ(channels.size(), 2U);
  EXPECT_EQ(channels.at(0).at("channel_type"), "memory");
  EXPECT_EQ(channels.at(0).at("connected_to"), nlohmann::ordered_json({1, 1}));
  EXPECT_EQ(channels.at(1).at("channel_type"), "port");
  EXPECT_EQ(channels.at(1).at("connected_to"), nlohmann::ordered_json({2, 2}));
}

TEST(Mscclpp, HasRoomForTwoNodesOfEight) {
  const MscclppSetting setting{.name = "ho-ring", .ranks_per_node = 8};
  EXPECT_NO_THROW(
      mscclpp_plan(generate({Method::kHoRing, Collective::kAllGather, {8, 2}}), setting));
  EXPECT_THROW(mscclpp_plan(generate({Method::kHoRing, Collective::kAllGather, {8, 4}}), setting),
               Error);
}

/// The oracle notices what is missing.
TEST(Mscclpp, WithoutItsSignalsIsNotRun) {
  const CollectiveSchedule schedule = generate({Method::kRing, Collective::kAllReduce, {3}});
  auto plan = mscclpp_plan(schedule, {.name = "broken"});
  for (auto& op : plan.at("gpus").at(1).at("threadblocks").at(0).at("ops")) {
    if (op.at("name") == "signal") op = {{"name", "nop"}};
  }
  EXPECT_THROW(run_mscclpp(plan, inputs_of(schedule), 1), std::runtime_error);
}

TEST(Mscclpp, HasNoWordForAReduceToOne) {
  EXPECT_THROW(mscclpp_plan(generate({Method::kTree, Collective::kReduce, {4}}), {.name = "x"}),
               Error);
}

}  // namespace
}  // namespace stepwright
