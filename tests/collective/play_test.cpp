#include "stepwright/collective/play.h"

#include <gtest/gtest.h>

#include <array>

#include "stepwright/collective/closed_form.h"
#include "stepwright/core/error.h"
#include "switched_cluster.h"

namespace stepwright::collective {
namespace {

constexpr CollectiveOperation kPlayed[] = {
    CollectiveOperation::kAllGather, CollectiveOperation::kReduceScatter,
    CollectiveOperation::kAllReduce, CollectiveOperation::kAllToAll};

TEST(Play, SharesALinkThatIsNotDuplex) {
  const cluster::Cluster cluster = switched(2, 1, 1, 1);
  const CollectiveSchedule schedule = generate_collective_schedule(
      {CollectiveAlgorithm::kDirect, CollectiveOperation::kAllGather, {2}});
  const double both = simulate_collective_seconds(schedule, cluster, {.payload_bytes = 50e6});
  const double one =
      simulate_collective_seconds(schedule, cluster, {.payload_bytes = 50e6, .full_duplex = false});
  EXPECT_NEAR(both, 1e-3 + 2e-6, 1e-9);
  EXPECT_NEAR(one, 2e-3 + 2e-6, 1e-9);
}

/// Groups by number of members and number of nodes.
class OneNode : public testing::TestWithParam<std::array<std::int32_t, 2>> {};

void expect_stands_for_all(const CollectiveScheduleSpec& spec, const cluster::Cluster& cluster) {
  for (const CollectiveSimulationOptions& setting :
       {CollectiveSimulationOptions{.payload_bytes = 64e3,
                                    .message_s = kDefaultMessageStartSeconds},
        CollectiveSimulationOptions{.payload_bytes = 64e6},
        CollectiveSimulationOptions{.payload_bytes = 4e6,
                                    .full_duplex = false,
                                    .message_s = kDefaultMessageStartSeconds}}) {
    const double all =
        simulate_collective_seconds(generate_collective_schedule(spec), cluster, setting);
    EXPECT_NEAR(simulate_generated_collective(spec, cluster, setting), all, 1e-9 * all)
        << name_of(kCollectiveAlgorithmNames, spec.method) << " operation "
        << static_cast<int>(spec.collective) << " " << spec.chunks << " chunks, "
        << cluster.nics_per_node << " NICs, " << setting.payload_bytes << " bytes";
  }
}

/// Returns the schedules of one algorithm for {members, nodes}.
std::vector<CollectiveScheduleSpec> specs_of(CollectiveAlgorithm method,
                                             const std::array<std::int32_t, 2>& shape) {
  std::vector<CollectiveScheduleSpec> specs;
  for (const CollectiveOperation collective : kPlayed) {
    for (const std::int32_t chunks : {1, 3}) {
      specs.push_back({method, collective, {shape[0], shape[1]}, chunks});
    }
  }
  std::erase_if(specs, [](const CollectiveScheduleSpec& spec) {
    return reason_no_collective_schedule_exists(spec).has_value();
  });
  return specs;
}

TEST_P(OneNode, TakesTheSecondsOfAll) {
  const auto [members, nodes] = GetParam();
  int compared = 0;
  for (const auto& [method, name] : kGeneratedCollectiveAlgorithmNames) {
    for (const CollectiveScheduleSpec& spec : specs_of(method, GetParam())) {
      for (const std::int32_t nics : {1, members}) {
        const cluster::Cluster cluster = switched(members, nodes, nics, 6);
        if (!has_equal_node_schedules(spec, cluster)) continue;
        expect_stands_for_all(spec, cluster);
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 60);
}

INSTANTIATE_TEST_SUITE_P(Shapes, OneNode,
                         testing::ValuesIn(std::vector<std::array<std::int32_t, 2>>{
                             {1, 4}, {2, 2}, {3, 5}, {4, 4}, {8, 3}}));

TEST(Play, OfOneNodeIsThatOf512Ranks) {
  const cluster::Cluster cluster = switched(8, 64, 8, 9);
  const CollectiveSimulationOptions setting{.payload_bytes = 64e6,
                                            .message_s = kDefaultMessageStartSeconds};
  for (const CollectiveAlgorithm method :
       {CollectiveAlgorithm::kHoRing, CollectiveAlgorithm::kRailHalving,
        CollectiveAlgorithm::kDirect}) {
    const CollectiveScheduleSpec spec{method, CollectiveOperation::kAllGather, {8, 64}};
    const double all =
        simulate_collective_seconds(generate_collective_schedule(spec), cluster, setting);
    EXPECT_NEAR(simulate_generated_collective(spec, cluster, setting), all, 1e-9 * all)
        << name_of(kCollectiveAlgorithmNames, method);
  }
}

/// The largest point of the curve: 2,048 nodes of eight.
TEST(Play, AgreesWithTheClosedFormAt16384Ranks) {
  const cluster::Cluster cluster = switched(8, 2048, 8, 9);
  const GroupLinkRates links = process_group_link_rates(cluster, 8, 2048);
  for (const auto& [method, name] : kGeneratedCollectiveAlgorithmNames) {
    const CollectiveScheduleSpec spec{method, CollectiveOperation::kAllGather, {8, 2048}};
    if (reason_no_collective_schedule_exists(spec) || method == CollectiveAlgorithm::kRings)
      continue;
    const double closed = closed_form_collective_seconds(spec, links, 1e9);
    const double played = simulate_generated_collective(
        spec, cluster, {.payload_bytes = 1e9, .message_s = kDefaultMessageStartSeconds});
    EXPECT_NEAR(closed, played, 0.02 * played) << name;
  }
}

TEST(Play, KnowsWhereOneNodeDoesNotStandForAll) {
  const cluster::Cluster cluster = switched(4, 4, 4, 6);
  const CollectiveScheduleSpec spec{
      CollectiveAlgorithm::kHoRing, CollectiveOperation::kAllGather, {4, 4}};
  EXPECT_TRUE(has_equal_node_schedules(spec, cluster));
  EXPECT_FALSE(has_equal_node_schedules(
      {CollectiveAlgorithm::kTree, CollectiveOperation::kAllReduce, {4, 4}}, cluster));
  EXPECT_FALSE(has_equal_node_schedules(
      {CollectiveAlgorithm::kHoRing, CollectiveOperation::kAllGather, {2, 8}}, cluster));
  EXPECT_FALSE(has_equal_node_schedules(
      {CollectiveAlgorithm::kHoRing, CollectiveOperation::kAllGather, {16}}, cluster));
  cluster::Cluster pods = cluster;
  pods.levels[1].size = 8;
  pods.levels.push_back({.name = "spine",
                         .size = 16,
                         .uplink_bytes_per_s = kTestNic,
                         .latency_s = 7e-6,
                         .network = true});
  EXPECT_FALSE(has_equal_node_schedules(spec, pods));
  const CollectiveSimulationOptions setting{.payload_bytes = 4e6};
  EXPECT_EQ(simulate_generated_collective(spec, pods, setting),
            simulate_collective_seconds(generate_collective_schedule(spec), pods, setting));
}

TEST(Play, RefusesAClusterThatIsTooSmall) {
  const cluster::Cluster cluster = switched(4, 2, 4, 6);
  const CollectiveScheduleSpec spec{
      CollectiveAlgorithm::kHoRing, CollectiveOperation::kAllGather, {4, 4}};
  EXPECT_THROW(simulate_generated_collective(spec, cluster, {.payload_bytes = 1e6}), Error);
}

}  // namespace
}  // namespace stepwright::collective
