#include "stepwright/collective_files/mscclpp.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "stepwright/collective/generate.h"
#include "stepwright/core/error.h"
#include "tests/collective_files/mscclpp_interpreter.h"

namespace stepwright::collective_files {
namespace {

TEST(Mscclpp, PlansOfAllSchedulesGiveTheRightNumbers) {
  for (const collective::CollectiveScheduleSpec& spec : small_specs(
           {collective::CollectiveOperation::kAllGather,
            collective::CollectiveOperation::kReduceScatter,
            collective::CollectiveOperation::kAllReduce, collective::CollectiveOperation::kAllToAll,
            collective::CollectiveOperation::kBroadcast})) {
    const collective::CollectiveSchedule schedule = collective::generate_collective_schedule(spec);
    const Pieces inputs = inputs_of(schedule);
    const auto plan = mscclpp_execution_plan(
        schedule, {.name = "test", .ranks_per_node = spec.tiers.front(), .most_operations = 10000});
    for (const std::uint32_t seed : {1U, 2U, 3U}) {
      SCOPED_TRACE(name_of(collective::kCollectiveAlgorithmNames, spec.method));
      expect_outputs(schedule, inputs, run_mscclpp(plan, inputs, seed));
    }
  }
}

TEST(Mscclpp, ReachesRanksOfOtherNodesByPort) {
  const auto plan = mscclpp_execution_plan(
      collective::generate_collective_schedule({collective::CollectiveAlgorithm::kHoRing,
                                                collective::CollectiveOperation::kAllGather,
                                                {2, 2}}),
      {.name = "ho-ring", .ranks_per_node = 2});
  const auto& channels = plan.at("gpus").at(0).at("channels");
  ASSERT_EQ(channels.size(), 2U);
  EXPECT_EQ(channels.at(0).at("channel_type"), "memory");
  EXPECT_EQ(channels.at(0).at("connected_to"), nlohmann::ordered_json({1, 1}));
  EXPECT_EQ(channels.at(1).at("channel_type"), "port");
  EXPECT_EQ(channels.at(1).at("connected_to"), nlohmann::ordered_json({2, 2}));
}

TEST(Mscclpp, HasRoomForTwoNodesOfEight) {
  const MscclppPlanSetting setting{.name = "ho-ring", .ranks_per_node = 8};
  EXPECT_NO_THROW(mscclpp_execution_plan(
      collective::generate_collective_schedule({collective::CollectiveAlgorithm::kHoRing,
                                                collective::CollectiveOperation::kAllGather,
                                                {8, 2}}),
      setting));
  EXPECT_THROW(mscclpp_execution_plan(collective::generate_collective_schedule(
                                          {collective::CollectiveAlgorithm::kHoRing,
                                           collective::CollectiveOperation::kAllGather,
                                           {8, 4}}),
                                      setting),
               Error);
}

/// The interpreter detects missing signals.
TEST(Mscclpp, WithoutItsSignalsIsNotRun) {
  const collective::CollectiveSchedule schedule = collective::generate_collective_schedule(
      {collective::CollectiveAlgorithm::kRing, collective::CollectiveOperation::kAllReduce, {3}});
  auto plan = mscclpp_execution_plan(schedule, {.name = "broken"});
  for (auto& op : plan.at("gpus").at(1).at("threadblocks").at(0).at("ops")) {
    if (op.at("name") == "signal") op = {{"name", "nop"}};
  }
  EXPECT_THROW(run_mscclpp(plan, inputs_of(schedule), 1), std::runtime_error);
}

TEST(Mscclpp, HasNoWordForAReduceToOne) {
  EXPECT_THROW(mscclpp_execution_plan(collective::generate_collective_schedule(
                                          {collective::CollectiveAlgorithm::kTree,
                                           collective::CollectiveOperation::kReduce,
                                           {4}}),
                                      {.name = "x"}),
               Error);
}

}  // namespace
}  // namespace stepwright::collective_files
