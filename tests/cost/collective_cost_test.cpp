#include "stepwright/cost/collective_cost.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "stepwright/cluster/catalog.h"
#include "stepwright/collective/closed_form.h"
#include "stepwright/cost/profiles/collective_profiles.h"
#include "tests/cost/jobs.h"

namespace stepwright::cost {
namespace {

constexpr double kGibi = 1073741824;

/// The shape of a group: `size` ranks at `stride`.
struct Spot {
  std::int64_t size, stride;
};
constexpr Spot kPlaces[] = {{2, 1}, {8, 1}, {16, 1}, {32, 1}, {4, 4}, {2, 8}, {4, 8}, {8, 4}};

/// Returns rounded constants: a single effective protocol, a start of 10 us, hops as long as a
/// link's latency.
MachineCollectiveConstants round_constants() {
  MachineCollectiveConstants constants;
  for (CollectiveOperationConstants& operation : constants.operations) {
    for (CollectiveProtocolConstants& protocol : operation.protocols) {
      protocol = {.start_us = 10, .hop = 1, .network_hop = 1, .rate = 1, .selection = 1};
    }
    operation.fill = 1;
    operation.inside_share = 0.5;
    operation.network_share = 0.8;
    operation.tree_share = 0.1;
  }
  return constants;
}

CollectiveOperationConstants& of(MachineCollectiveConstants& constants,
                                 collective::CollectiveOperation collective) {
  return constants.operations[static_cast<std::size_t>(collective)];
}

OperatorTime message(collective::CollectiveOperation collective, double bytes, Spot place,
                     const MachineCollectiveConstants& constants, const cluster::Cluster& cluster) {
  const cluster::GroupLayout layout =
      cluster::network_layout_of_strided_group(cluster, place.size, place.stride);
  return MessageCostModel(cluster, constants)
      .priced_message_time({collective, bytes, layout, collective::CollectiveAlgorithm::kLibrary});
}

double seconds(collective::CollectiveOperation collective, double bytes, Spot place,
               const MachineCollectiveConstants& constants = round_constants()) {
  return message(collective, bytes, place, constants, a100_job(4).cluster).seconds;
}

TEST(MessageCostModel, StartsHopsAndBytesAddUpWhenTheFillIsOne) {
  // 7/8 GiB at half of 300e9: 6263.5 us; 7 hops of 2.5 us; start 10 us.
  EXPECT_NEAR(seconds(collective::CollectiveOperation::kAllGather, kGibi, {8, 1}), 6290.994e-6,
              0.01e-6);
  // 14/8 GiB at half of 300e9; 14 hops.
  EXPECT_NEAR(seconds(collective::CollectiveOperation::kAllReduce, kGibi, {8, 1}), 12571.987e-6,
              0.01e-6);
  // One GiB at half of 300e9: 7158.279 us; one hop.
  EXPECT_NEAR(seconds(collective::CollectiveOperation::kPointToPoint, kGibi, {4, 1}), 7170.779e-6,
              0.01e-6);
}

TEST(MessageCostModel, StartAndTransferGoSideBySideWhenTheFillIsNought) {
  MachineCollectiveConstants constants = round_constants();
  of(constants, collective::CollectiveOperation::kAllGather).fill = 0;
  // Wait 27.5 us; 7/8 of 6 MB at 150e9: 35 us; the root of the sum of squares.
  EXPECT_NEAR(seconds(collective::CollectiveOperation::kAllGather, 6e6, {8, 1}, constants),
              std::hypot(27.5, 35.0) * kMicro, 1e-10);
}

/// Returns the least seconds over all algorithms and protocols.
double least_of_ways(const MessageRouteTimes& routes,
                     const CollectiveOperationConstants& constants) {
  double least = INFINITY;
  for (const collective::CollectiveAlgorithm algorithm : kCollectiveLibraryAlgorithms) {
    for (int protocol = 0; protocol < kProtocols; ++protocol) {
      const auto times = message_start_and_transfer_times(
          routes, constants, algorithm, static_cast<CollectiveProtocol>(protocol));
      if (times) least = std::min(least, std::sqrt(times->squared_message_seconds(constants.fill)));
    }
  }
  return least;
}

TEST(MessageCostModel, IsTheLeastOfItsWaysWhereTheLibraryBelievesRight) {
  const cluster::Cluster cluster = cluster::load_cluster("aws-p5-h100", 4);
  MachineCollectiveConstants constants = collective_constants_of_cluster(cluster);
  CollectiveOperationConstants& reduce = of(constants, collective::CollectiveOperation::kAllReduce);
  for (CollectiveProtocolConstants& protocol : reduce.protocols) protocol.selection = 1;
  const MessageCostModel cost(cluster, constants);
  for (const std::int64_t ranks : {8, 16, 32}) {
    for (int power = 0; power < 14; ++power) {
      const CollectiveMessage message{collective::CollectiveOperation::kAllReduce,
                                      std::pow(7, power),
                                      cluster::network_layout_of_strided_group(cluster, ranks, 1),
                                      collective::CollectiveAlgorithm::kLibrary};
      EXPECT_DOUBLE_EQ(
          cost.priced_message_time(message).seconds,
          least_of_ways(cost.link_line_rates().message_times_by_route(message), reduce))
          << ranks << " 7^" << power;
    }
  }
}

// 32 ranks over 4 nodes are twice kUncrowdedRanks; inside a node, and of transfers between two
// ranks, there is no crowd.
TEST(MessageCostModel, CrowdedGroupsAttainLessOfTheNetwork) {
  MachineCollectiveConstants even = round_constants();
  for (CollectiveOperationConstants& operation : even.operations) operation.network_share = 0.01;
  MachineCollectiveConstants crowded = even;
  for (CollectiveOperationConstants& operation : crowded.operations) operation.congestion = 1;
  const auto ratio = [&](collective::CollectiveOperation collective, Spot spot) {
    const auto bytes_s = [&](const MachineCollectiveConstants& constants) {
      return seconds(collective, kGibi, spot, constants) -
             seconds(collective, 1e-9, spot, constants);
    };
    return bytes_s(crowded) / bytes_s(even);
  };
  EXPECT_NEAR(ratio(collective::CollectiveOperation::kAllGather, {32, 1}), 2, 1e-3);
  EXPECT_NEAR(ratio(collective::CollectiveOperation::kReduceScatter, {32, 1}), 2, 1e-3);
  EXPECT_NEAR(ratio(collective::CollectiveOperation::kAllGather, {16, 1}), 1, 1e-9);
  EXPECT_NEAR(ratio(collective::CollectiveOperation::kAllGather, {8, 1}), 1, 1e-9);
  EXPECT_NEAR(ratio(collective::CollectiveOperation::kPointToPoint, {2, 8}), 1, 1e-9);
}

// Medians of the measurements in the Ultra-Scale Playbook's runs while the network was healthy.
TEST(MessageCostModel, ThePlaybooksClusterIsReproduced) {
  const struct {
    std::int64_t nodes;
    double bus;
  } published[] = {{1, 458.5e9},  {2, 427e9},    {4, 206e9},   {8, 190.9e9},
                   {16, 173.4e9}, {32, 188.4e9}, {64, 177.3e9}};
  const double bytes = kGibi;
  for (const auto& [nodes, bus] : published) {
    const cluster::Cluster cluster = cluster::load_cluster("aws-p5-h100", nodes);
    const MessageCostModel cost(cluster, collective_constants_of_cluster(cluster));
    const auto ranks = static_cast<double>(8 * nodes);
    const double time_s =
        cost.priced_message_time({collective::CollectiveOperation::kAllReduce, bytes,
                                  cluster::network_layout_of_strided_group(cluster, 8 * nodes, 1),
                                  collective::CollectiveAlgorithm::kLibrary})
            .seconds;
    EXPECT_NEAR(2 * (ranks - 1) / ranks * bytes / time_s / bus, 1, 0.12) << nodes;
  }
}

TEST(MessageCostModel, FewRanksReachLess) {
  MachineCollectiveConstants constants = round_constants();
  of(constants, collective::CollectiveOperation::kAllGather).few_ranks = 0.3;
  const auto bytes_s = [&](std::int64_t ranks) {
    return seconds(collective::CollectiveOperation::kAllGather, kGibi, {ranks, 1}, constants) -
           seconds(collective::CollectiveOperation::kAllGather, 1e-9, {ranks, 1}, constants);
  };
  EXPECT_NEAR(bytes_s(2), kGibi / 2 / (150e9 * 0.7), 1e-8);
  EXPECT_NEAR(bytes_s(4), kGibi * 3 / 4 / (150e9 * 0.9), 1e-8);
}

TEST(MessageCostModel, AMeshHasOnlyTheLinksAmongTheRanksThatTakePart) {
  cluster::Cluster cluster = nodes_of_eight(1, 300e9, 25e9).cluster;
  cluster.devices_per_node = 4;
  cluster.levels = {{.name = "nvlink",
                     .size = 4,
                     .uplink_bytes_per_s = 300e9,
                     .latency_s = 2.5e-6,
                     .mesh = true,
                     .links = cluster::LinkTechnology::kNvlink}};
  const auto bytes_s = [&](collective::CollectiveOperation collective, std::int64_t ranks) {
    return message(collective, kGibi, {ranks, 1}, round_constants(), cluster).seconds -
           message(collective, 1e-9, {ranks, 1}, round_constants(), cluster).seconds;
  };
  // Of three links of 100e9 a pair has one, three ranks two, four all; each at half its rate.
  EXPECT_NEAR(bytes_s(collective::CollectiveOperation::kAllGather, 2), kGibi / 2 / 50e9, 1e-8);
  EXPECT_NEAR(bytes_s(collective::CollectiveOperation::kAllGather, 3), kGibi * 2 / 3 / 100e9, 1e-8);
  EXPECT_NEAR(bytes_s(collective::CollectiveOperation::kAllGather, 4), kGibi * 3 / 4 / 150e9, 1e-8);
  EXPECT_NEAR(bytes_s(collective::CollectiveOperation::kPointToPoint, 4), kGibi / 50e9, 1e-8);
}

TEST(MessageCostModel, TheProtocolIsTheOneThatTheLibraryBelievesIn) {
  MachineCollectiveConstants constants = round_constants();
  CollectiveOperationConstants& gather = of(constants, collective::CollectiveOperation::kAllGather);
  gather.protocols[0] = {.start_us = 5, .hop = 0, .network_hop = 0, .rate = 0.1, .selection = 1};
  gather.protocols[1] = gather.protocols[0];
  gather.protocols[2] = {.start_us = 50, .hop = 0, .network_hop = 0, .rate = 1, .selection = 0.5};
  // 7/8 of the buffer at 150e9, ten times as long by the first: 5 + 10 x against 50 + x us. Half
  // of the second is believed: they change places at x = 20 / 9.5 us, not at 5 us.
  const auto at = [&](double x_us) {
    return seconds(collective::CollectiveOperation::kAllGather, x_us * kMicro * 150e9 * 8 / 7,
                   {8, 1}, constants);
  };
  EXPECT_NEAR(at(2.0), 25.0e-6, 1e-11);
  EXPECT_NEAR(at(2.2), 52.2e-6, 1e-11);
}

TEST(MessageCostModel, SisterGroupsShareTheNicsOfANode) {
  // Eight groups of four at stride 8 share 8 * 25e9 at .8: 2 * 3/4 GiB at 20e9; 6 hops; start.
  const OperatorTime time = message(collective::CollectiveOperation::kAllReduce, kGibi, {4, 8},
                                    round_constants(), a100_job(4).cluster);
  EXPECT_NEAR(time.seconds, 1.5 * kGibi / 20e9 + 40e-6, 1e-8);
  EXPECT_EQ(time.link, LinkClass::kNetwork);
}

TEST(MessageCostModel, AnAllReduceTakesTheTreeWhereItIsFaster) {
  MachineCollectiveConstants constants = round_constants();
  of(constants, collective::CollectiveOperation::kAllReduce).tree_share = 0.8;
  // Sixteen ranks on two nodes. Ring: 13 * 2.5 + 2 * 5 us of hops twice; tree: 7 * 2.5 + 5 twice.
  const cluster::Cluster cluster = a100_job().cluster;
  const auto tree = [&](double bytes) {
    return message(collective::CollectiveOperation::kAllReduce, bytes, {16, 1}, constants, cluster)
        .seconds;
  };
  EXPECT_NEAR(tree(1e-9), 55e-6, 1e-9);
  // Each node sends the buffer once, not 15/8 times: inside 2 * 15/16 GiB at 150e9 counts.
  EXPECT_NEAR(tree(kGibi), 1.875 * kGibi / 150e9 + 55e-6, 1e-8);
}

TEST(MessageCostModel, ASwitchAddsForWholeNodes) {
  MachineCollectiveConstants constants = round_constants();
  of(constants, collective::CollectiveOperation::kAllReduce).switch_share = 0.5;
  // Each rank sends its GiB once at 150e9, not 14/8 times.
  EXPECT_NEAR(seconds(collective::CollectiveOperation::kAllReduce, kGibi, {8, 1}, constants),
              kGibi / 150e9 + 45e-6, 1e-8);
  EXPECT_EQ(seconds(collective::CollectiveOperation::kAllReduce, kGibi, {4, 1}, constants),
            seconds(collective::CollectiveOperation::kAllReduce, kGibi, {4, 1}));
}

/// Returns the seconds of a message of all `ranks` ranks on nodes of eight, with a named algorithm.
double by(collective::CollectiveAlgorithm algorithm, collective::CollectiveOperation collective,
          double bytes, std::int64_t ranks) {
  const cluster::Cluster cluster = a100_job().cluster;
  return MessageCostModel(cluster, round_constants())
      .priced_message_time({collective, bytes,
                            cluster::network_layout_of_strided_group(cluster, ranks, 1), algorithm})
      .seconds;
}

TEST(MessageCostModel, ARingAndATreeAreThoseWaysOfTheLibraryAlone) {
  const collective::CollectiveOperation reduce = collective::CollectiveOperation::kAllReduce;
  // Twice 15/16 GiB at 150e9; twice 13 hops of 2.5 us and 2 of 5 us; start 10 us.
  EXPECT_NEAR(by(collective::CollectiveAlgorithm::kRing, reduce, kGibi, 16),
              1.875 * kGibi / 150e9 + 95e-6, 1e-8);
  // Each node sends the GiB once at a tenth of 200e9; twice 7 hops of 2.5 us and one of 5 us.
  EXPECT_NEAR(by(collective::CollectiveAlgorithm::kTree, reduce, kGibi, 16), kGibi / 20e9 + 55e-6,
              1e-8);
  for (const double bytes : {1.0, 1e6, 1e9}) {
    EXPECT_EQ(by(collective::CollectiveAlgorithm::kLibrary, reduce, bytes, 16),
              std::min(by(collective::CollectiveAlgorithm::kRing, reduce, bytes, 16),
                       by(collective::CollectiveAlgorithm::kTree, reduce, bytes, 16)));
  }
}

TEST(MessageCostModel, NvlsIsTheSwitchesAlone) {
  MachineCollectiveConstants constants = round_constants();
  of(constants, collective::CollectiveOperation::kAllReduce).switch_share = 0.5;
  const cluster::Cluster cluster = cluster::load_cluster("dgx-h100", 2);
  const CollectiveMessage message{collective::CollectiveOperation::kAllReduce, kGibi,
                                  cluster::network_layout_of_strided_group(cluster, 8, 1),
                                  collective::CollectiveAlgorithm::kNvls};
  // The GiB goes up once at half of 450e9, seven hops there and back.
  EXPECT_NEAR(MessageCostModel(cluster, constants).priced_message_time(message).seconds,
              kGibi / 225e9 + 10e-6 + 14 * cluster.levels.front().latency_s, 1e-8);
}

/// A start of 10 us, followed by the schedule: 1 us for each message, whatever its size.
TEST(MessageCostModel, OtherAlgorithmsAreTheClosedFormOfTheirSchedule) {
  // To seven peers, one latency.
  EXPECT_NEAR(by(collective::CollectiveAlgorithm::kDirect,
                 collective::CollectiveOperation::kAllGather, kGibi, 8),
              0.875 * kGibi / 150e9 + 19.5e-6, 1e-9);
  // Three rounds of 1, 2 and 4 blocks.
  EXPECT_NEAR(by(collective::CollectiveAlgorithm::kHalvingDoubling,
                 collective::CollectiveOperation::kAllGather, kGibi, 8),
              0.875 * kGibi / 150e9 + 20.5e-6, 1e-9);
  // One round on the rail, then seven messages inside.
  EXPECT_NEAR(by(collective::CollectiveAlgorithm::kRailHalving,
                 collective::CollectiveOperation::kAllGather, 1e-9, 16),
              25.5e-6, 1e-10);
  // Seven messages inside beside one on the rail, seven more, and a latency.
  EXPECT_NEAR(by(collective::CollectiveAlgorithm::kRelay,
                 collective::CollectiveOperation::kAllToAll, 1e-9, 16),
              26.5e-6, 1e-10);
  // Fifteen hops, two of them out of a node: of eight rings each takes one.
  EXPECT_NEAR(by(collective::CollectiveAlgorithm::kRings,
                 collective::CollectiveOperation::kAllGather, 1e-9, 16),
              62.5e-6, 15e-6);
  // The cases for which the library's own algorithm is used.
  EXPECT_EQ(by(collective::CollectiveAlgorithm::kDirect, collective::CollectiveOperation::kAllToAll,
               kGibi, 16),
            by(collective::CollectiveAlgorithm::kLibrary,
               collective::CollectiveOperation::kAllToAll, kGibi, 16));
}

TEST(MessageCostModel, WhereAnAlgorithmCannotTheLibraryCarriesTheMessage) {
  const auto expect_library = [](collective::CollectiveAlgorithm algorithm,
                                 collective::CollectiveOperation collective, std::int64_t ranks) {
    EXPECT_EQ(by(algorithm, collective, 1e6, ranks),
              by(collective::CollectiveAlgorithm::kLibrary, collective, 1e6, ranks))
        << name_of(collective::kCollectiveAlgorithmNames, algorithm);
  };
  expect_library(collective::CollectiveAlgorithm::kTree,
                 collective::CollectiveOperation::kAllGather, 16);
  expect_library(collective::CollectiveAlgorithm::kTree,
                 collective::CollectiveOperation::kAllReduce, 8);
  expect_library(collective::CollectiveAlgorithm::kNvls,
                 collective::CollectiveOperation::kAllReduce,
                 8);  // switches of A100 do not add
  expect_library(collective::CollectiveAlgorithm::kHoRing,
                 collective::CollectiveOperation::kAllGather, 8);
  expect_library(collective::CollectiveAlgorithm::kRelay,
                 collective::CollectiveOperation::kAllToAll, 8);
  expect_library(collective::CollectiveAlgorithm::kHoRing,
                 collective::CollectiveOperation::kAllToAll, 16);
  expect_library(collective::CollectiveAlgorithm::kHalvingDoubling,
                 collective::CollectiveOperation::kAllGather, 12);
}

TEST(MessageCostModel, TwoLevelCollectivesGoInsideAndBetweenInTurn) {
  // Inside 7/8 GiB at 150e9, rails 1/2 GiB at 8 * 25e9 * .8; two starts; hops 7 * 2.5 + 5 us.
  const OperatorTime time =
      MessageCostModel(a100_job().cluster, round_constants())
          .priced_message_time({collective::CollectiveOperation::kAllGather, kGibi,
                                cluster::network_layout_of_strided_group(a100_job().cluster, 16, 1),
                                collective::CollectiveAlgorithm::kTwoLevel});
  EXPECT_NEAR(time.seconds, 0.875 * kGibi / 150e9 + 0.5 * kGibi / 160e9 + 42.5e-6, 1e-8);
}

TEST(MessageCostModel, AnHoRingGoesInsideAndBetweenAtTheSameTime) {
  // Rails: 1/2 GiB at 8 * 25e9 * .8 takes longer than 7/8 GiB at 150e9 inside, so the inner level
  // is hidden.
  const OperatorTime time =
      MessageCostModel(a100_job().cluster, round_constants())
          .priced_message_time({collective::CollectiveOperation::kAllGather, kGibi,
                                cluster::network_layout_of_strided_group(a100_job().cluster, 16, 1),
                                collective::CollectiveAlgorithm::kHoRing});
  const double longer_s = std::max(0.875 * kGibi / 150e9, 0.5 * kGibi / 160e9);
  EXPECT_GT(time.seconds, longer_s);
  EXPECT_LT(time.seconds, 1.1 * longer_s);
}

/// At line rates and without protocols, the price equals the closed form of the schedule.
TEST(MessageCostModel, OfAnHoRingIsTheClosedFormOfItsSchedule) {
  MachineCollectiveConstants plain;
  const cluster::Cluster cluster = a100_job().cluster;
  for (CollectiveOperationConstants& operation : plain.operations) {
    for (CollectiveProtocolConstants& protocol : operation.protocols)
      protocol = {.hop = 1, .network_hop = 1};
  }
  const MessageCostModel cost(cluster, plain);
  for (const collective::CollectiveOperation collective :
       {collective::CollectiveOperation::kAllGather,
        collective::CollectiveOperation::kReduceScatter,
        collective::CollectiveOperation::kAllReduce}) {
    for (const double bytes : {64e6, 1e9, 8e9}) {
      const collective::GroupLinkRates links = collective::process_group_link_rates(cluster, 8, 2);
      const double closed = collective::closed_form_collective_seconds(
          collective::with_fastest_chunk_count(
              {collective::CollectiveAlgorithm::kHoRing, collective, {8, 2}}, links, bytes),
          links, bytes);
      const double priced =
          cost.priced_message_time({collective, bytes,
                                    cluster::network_layout_of_strided_group(cluster, 16, 1),
                                    collective::CollectiveAlgorithm::kHoRing})
              .seconds;
      EXPECT_NEAR(priced, closed, 0.05 * closed) << bytes;
    }
  }
}

TEST(MessageCostModel, AGroupOfOneTakesNoTime) {
  for (const auto& [collective, name] : kCollectiveNames) {
    const OperatorTime time =
        message(collective, 1e9, {1, 1}, default_collective_constants(), a100_job().cluster);
    EXPECT_EQ(time.seconds, 0);
    EXPECT_EQ(time.link, LinkClass::kNone);
  }
}

void expect_growth(const MessageCostModel& cost, const CollectiveMessage& of) {
  CollectiveMessage sized = of;
  double last = 0;
  for (std::int64_t bytes = 1; bytes < 20'000'000'000; bytes += 1 + bytes / 4) {
    sized.payload_bytes = static_cast<double>(bytes);
    const double seconds = cost.priced_message_time(sized).seconds;
    EXPECT_GT(seconds, last) << bytes << " bytes, " << of.layout.size << " ranks";
    last = seconds;
  }
}

/// Returns the layouts of `kPlaces` that a cluster can have.
std::vector<cluster::GroupLayout> layouts_of(const cluster::Cluster& cluster) {
  std::vector<cluster::GroupLayout> layouts;
  for (const Spot place : kPlaces) {
    if (place.size * place.stride > cluster.devices()) continue;
    layouts.push_back(cluster::network_layout_of_strided_group(cluster, place.size, place.stride));
  }
  return layouts;
}

TEST(MessageCostModel, MoreBytesTakeMoreOnEveryMachine) {
  for (const std::string_view name : cluster::built_in_cluster_names()) {
    const cluster::Cluster cluster = cluster::built_in_cluster(name, 4).value();
    const MessageCostModel cost(cluster);
    for (const cluster::GroupLayout& layout : layouts_of(cluster)) {
      for (const auto& [collective, word] : kCollectiveNames) {
        for (const auto& [algorithm, called] : collective::kCollectiveAlgorithmNames) {
          const collective::GroupNodeLayout form = collective::group_node_layout(layout, cluster);
          if (collective::effective_collective_algorithm(algorithm, collective, form) != algorithm)
            continue;
          expect_growth(cost, {collective, 0, layout, algorithm});
        }
      }
    }
  }
}

TEST(MessageCostModel, NothingIsFasterThanTheLineRates) {
  for (const std::string_view name : cluster::built_in_cluster_names()) {
    const cluster::Cluster cluster = cluster::built_in_cluster(name, 4).value();
    for (const cluster::GroupLayout& layout : layouts_of(cluster)) {
      for (const auto collective : {collective::CollectiveOperation::kAllGather,
                                    collective::CollectiveOperation::kReduceScatter,
                                    collective::CollectiveOperation::kAllToAll,
                                    collective::CollectiveOperation::kPointToPoint}) {
        const CollectiveMessage message = {collective, 1e9, layout,
                                           collective::CollectiveAlgorithm::kLibrary};
        const MessageRouteTime least =
            ClusterLineRates(cluster).message_times_by_route(message).ring;
        EXPECT_GE(MessageCostModel(cluster).priced_message_time(message).seconds,
                  std::max(least.inside_s, least.network_s));
      }
    }
  }
}

TEST(MessageCostModel, AFittedMachineSaysSo) {
  const auto fit = [](std::string_view name) {
    return MessageCostModel(cluster::built_in_cluster(name, 2).value()).profile_name();
  };
  EXPECT_EQ(fit("dgx-h100"), "dgx-h100");
  EXPECT_EQ(fit("meta-llama3-h100"), "h100-sxm-80g");
  EXPECT_EQ(fit("a40-8gpu-pcie"), std::nullopt);
}

TEST(MessageCostModel, SocketsBelongToTheSampledMachineAlone) {
  // arXiv 2509.22832: 1.2 GB/s per NIC of 25 on the sampled run.
  const auto bandwidth = [](std::string_view name) {
    const cluster::Cluster cluster = cluster::built_in_cluster(name, 8).value();
    const cluster::GroupLayout layout = cluster::network_layout_of_strided_group(cluster, 8, 4);
    const CollectiveMessage message = {collective::CollectiveOperation::kAllReduce, 1e9, layout,
                                       collective::CollectiveAlgorithm::kLibrary};
    return 1.75e9 / MessageCostModel(cluster).priced_message_time(message).seconds;
  };
  EXPECT_NEAR(bandwidth("a100_sxm4_80g_perlmutter"), 1.2e9, 0.1e9);
  EXPECT_GT(bandwidth("perlmutter-a100-80g"), 10e9);
}

}  // namespace
}  // namespace stepwright::cost
