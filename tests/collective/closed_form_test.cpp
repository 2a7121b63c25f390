#include "stepwright/collective/closed_form.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <tuple>

#include "stepwright/collective/play.h"
#include "switched_cluster.h"

namespace stepwright::collective {
namespace {

constexpr CollectiveOperation kOperations[] = {
    CollectiveOperation::kAllGather, CollectiveOperation::kReduceScatter,
    CollectiveOperation::kAllReduce, CollectiveOperation::kAllToAll,
    CollectiveOperation::kBroadcast, CollectiveOperation::kReduce};

/// True if such a schedule exists and its closed form is exact rather than only a bound.
bool has_closed_form(const CollectiveScheduleSpec& spec) {
  const bool tiered =
      spec.method == CollectiveAlgorithm::kHoRing || spec.method == CollectiveAlgorithm::kTwoLevel;
  if (spec.inner == IntraGroupPattern::kRing && !tiered) return false;
  // Chunks of an all-reduce up and down a tree share links: an upper bound only.
  const bool bound = spec.method == CollectiveAlgorithm::kTree &&
                     spec.collective == CollectiveOperation::kAllReduce;
  // Rings that share the links inside a node alternately are tested in `Rings` below.
  if (spec.method == CollectiveAlgorithm::kRings && spec.tiers.front() > 1 &&
      spec.tiers.back() > 1) {
    return false;
  }
  return !reason_no_collective_schedule_exists(spec) && (!bound || spec.chunks == 1);
}

/// Returns every schedule that has a closed form, for a group's shape.
std::vector<CollectiveScheduleSpec> specs_of(std::int32_t members, std::int32_t nodes) {
  std::vector<CollectiveScheduleSpec> specs;
  for (const auto& [method, name] : kGeneratedCollectiveAlgorithmNames) {
    for (const CollectiveOperation collective : kOperations) {
      for (const std::int32_t chunks : {1, 2, 8}) {
        specs.push_back({method, collective, {members, nodes}, chunks, IntraGroupPattern::kDirect});
        specs.push_back({method, collective, {members, nodes}, chunks, IntraGroupPattern::kRing});
      }
    }
  }
  std::erase_if(specs, [](const CollectiveScheduleSpec& spec) { return !has_closed_form(spec); });
  return specs;
}

/// Number of nodes, of members, and rate inside a node divided by that of a NIC.
class Played : public testing::TestWithParam<std::tuple<std::int32_t, std::int32_t, double>> {};

TEST_P(Played, IsWithinTwoPercentOfTheClosedForm) {
  const auto [nodes, members, ratio] = GetParam();
  std::map<std::string, double> worst;
  for (const CollectiveScheduleSpec& spec : specs_of(members, nodes)) {
    const CollectiveSchedule schedule = generate_collective_schedule(spec);
    for (const std::int32_t nics : {1, members}) {
      const cluster::Cluster cluster = switched(members, nodes, nics, ratio);
      GroupLinkRates links = process_group_link_rates(cluster, members, nodes);
      for (const double payload : {64e3, 4e6, 256e6}) {
        links.message_s = payload > 1e6 && payload < 1e8 ? kDefaultMessageStartSeconds : 0;
        const double played = simulate_collective_seconds(
            schedule, cluster, {.payload_bytes = payload, .message_s = links.message_s});
        const double closed = closed_form_collective_seconds(spec, links, payload);
        double& error = worst[std::string(name_of(kCollectiveAlgorithmNames, spec.method))];
        if (played > 0) error = std::max(error, std::abs(closed / played - 1));
        EXPECT_NEAR(closed, played, 0.02 * played)
            << name_of(kCollectiveAlgorithmNames, spec.method) << " operation "
            << static_cast<int>(spec.collective)
            << (spec.inner == IntraGroupPattern::kRing ? " ring " : " ") << spec.chunks
            << " chunks, " << nics << " NICs, " << payload << " bytes";
      }
      if (members == 1) break;
    }
  }
  for (const auto& [name, error] : worst) RecordProperty(name, std::to_string(error));
}

INSTANTIATE_TEST_SUITE_P(Shapes, Played,
                         testing::Combine(testing::Values(1, 2, 3, 5), testing::Values(1, 2, 4),
                                          testing::Values(1.0, 9.0, 24.0)));
INSTANTIATE_TEST_SUITE_P(Large, Played,
                         testing::Combine(testing::Values(4, 8), testing::Values(8),
                                          testing::Values(24.0)));

/// Two nodes of two, S = 1 MB. The rail takes 40 us and its latency; of the last half, the part
/// inside a node takes 10 us and its latency.
TEST(ClosedForm, IsWhatAHandCountsForAnHoRing) {
  const cluster::Cluster cluster = switched(2, 2, 2, 2);
  GroupLinkRates links = process_group_link_rates(cluster, 2, 2);
  links.message_s = 0;
  const CollectiveScheduleSpec spec{
      CollectiveAlgorithm::kHoRing, CollectiveOperation::kAllGather, {2, 2}, 2};
  EXPECT_NEAR(closed_form_collective_seconds(spec, links, 4e6), 40e-6 + 6e-6 + 10e-6 + 2e-6, 1e-12);
  EXPECT_NEAR(simulate_collective_seconds(generate_collective_schedule(spec), cluster,
                                          {.payload_bytes = 4e6}),
              58e-6, 1e-12);
}

/// With a fast rail, n a is the longer of the two terms.
TEST(ClosedForm, ApproachesTheLowerBound) {
  for (const std::int32_t nics : {1, 8}) {
    for (const double ratio : {2.0, 9.0, 24.0}) {
      const GroupLinkRates links = process_group_link_rates(switched(8, 4, nics, ratio), 8, 4);
      const double payload = 4e9;
      const double nic = 3.0 / 4 * payload / nics / kTestNic;
      const double inside = 7.0 / 8 * payload / (ratio * kTestNic);
      const CollectiveScheduleSpec best = with_fastest_chunk_count(
          {CollectiveAlgorithm::kHoRing, CollectiveOperation::kAllGather, {8, 4}}, links, payload);
      const double seconds = closed_form_collective_seconds(best, links, payload);
      EXPECT_GE(seconds, std::max(nic, inside));
      EXPECT_LE(seconds, 1.02 * std::max(nic, inside));
    }
  }
}

TEST(ClosedForm, MoreChunksPayForLargeBuffersOnly) {
  const GroupLinkRates links = process_group_link_rates(switched(8, 4, 8, 9), 8, 4);
  const CollectiveScheduleSpec spec{
      CollectiveAlgorithm::kHoRing, CollectiveOperation::kAllGather, {8, 4}};
  EXPECT_EQ(with_fastest_chunk_count(spec, links, 1e3).chunks, 1);
  EXPECT_GT(with_fastest_chunk_count(spec, links, 1e9).chunks, 1);
}

TEST(ClosedForm, ChoosesByteSavingSchedulesForLargeBuffersAndShortOnesForSmall) {
  const GroupLinkRates links = process_group_link_rates(switched(8, 4, 1, 9), 8, 4);
  EXPECT_EQ(fastest_collective_schedule(CollectiveOperation::kAllReduce, links, 1e9).method,
            CollectiveAlgorithm::kHoRing);
  const CollectiveAlgorithm small =
      fastest_collective_schedule(CollectiveOperation::kAllReduce, links, 64).method;
  EXPECT_TRUE(small == CollectiveAlgorithm::kHalvingDoubling ||
              small == CollectiveAlgorithm::kTree || small == CollectiveAlgorithm::kDirect ||
              small == CollectiveAlgorithm::kRailHalving);
  EXPECT_EQ(fastest_collective_schedule(CollectiveOperation::kAllToAll, links, 1e9).method,
            CollectiveAlgorithm::kRelay);
}

/// The form is within a tenth if all rings wait for the NICs, or all for the links inside a node,
/// as here; between these cases it is up to a quarter off.
TEST(ClosedForm, OfRingsIsWithinATenth) {
  for (const std::int32_t nodes : {2, 4, 16}) {
    for (const double payload : {64e3, 64e6, 1e9}) {
      for (const CollectiveOperation collective :
           {CollectiveOperation::kAllGather, CollectiveOperation::kAllReduce}) {
        const cluster::Cluster cluster = switched(8, nodes, 8, 12);
        const GroupLinkRates links = process_group_link_rates(cluster, 8, nodes);
        const CollectiveScheduleSpec spec = with_fastest_chunk_count(
            {CollectiveAlgorithm::kRings, collective, {8, nodes}}, links, payload);
        const double played = simulate_generated_collective(
            spec, cluster, {.payload_bytes = payload, .message_s = kDefaultMessageStartSeconds});
        EXPECT_NEAR(closed_form_collective_seconds(spec, links, payload), played, 0.1 * played)
            << nodes << " nodes, " << payload << " bytes";
      }
    }
  }
}

/// Each of m rings on m rails carries 1/m: per ring, 15/16 of 4 MB in 15 messages of 31.25 kB.
TEST(ClosedForm, IsWhatAHandCountsForRings) {
  const cluster::Cluster cluster = switched(8, 2, 8, 1e6);
  GroupLinkRates links = process_group_link_rates(cluster, 8, 2);
  links.message_s = 0;
  links.inside_latency_s = 0;
  links.network_latency_s = 0;
  const CollectiveScheduleSpec spec{
      CollectiveAlgorithm::kRings, CollectiveOperation::kAllGather, {8, 2}};
  EXPECT_NEAR(closed_form_collective_seconds(spec, links, 4e6), 15 * 31.25e3 / kTestNic, 1e-12);
}

/// Two steps on a rail with 31.25 kB and 62.5 kB, then 7 messages of 125 kB inside a node.
TEST(ClosedForm, IsWhatAHandCountsForRailHalving) {
  const cluster::Cluster cluster = switched(8, 4, 8, 10);
  GroupLinkRates links = process_group_link_rates(cluster, 8, 4);
  links.message_s = 0;
  const CollectiveScheduleSpec spec{
      CollectiveAlgorithm::kRailHalving, CollectiveOperation::kAllGather, {8, 4}};
  const double rail = 93.75e3 / kTestNic + 2 * 6e-6;
  const double inside = 7 * 125e3 / (10 * kTestNic) + 2e-6;
  EXPECT_NEAR(closed_form_collective_seconds(spec, links, 1e6), rail + inside, 1e-12);
  EXPECT_NEAR(simulate_generated_collective(spec, cluster, {.payload_bytes = 1e6}), rail + inside,
              1e-12);
}

TEST(ClosedForm, DoesNotCutWhatChunksDoNotHelp) {
  const GroupLinkRates links = process_group_link_rates(switched(8, 4, 1, 9), 8, 4);
  for (const CollectiveAlgorithm method :
       {CollectiveAlgorithm::kHalvingDoubling, CollectiveAlgorithm::kRailHalving}) {
    EXPECT_EQ(
        with_fastest_chunk_count({method, CollectiveOperation::kAllGather, {8, 4}}, links, 1e9)
            .chunks,
        1);
  }
}

}  // namespace
}  // namespace stepwright::collective
