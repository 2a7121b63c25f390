#include "stepwright/collective_files/nccl_tuner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>

#include "stepwright/cluster/catalog.h"
#include "tests/collective_files/tuner_plugin.h"

namespace stepwright::collective_files {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;

const std::map<std::string, collective::CollectiveOperation> kTuned = {
    {"allreduce", collective::CollectiveOperation::kAllReduce},
    {"allgather", collective::CollectiveOperation::kAllGather},
    {"reducescatter", collective::CollectiveOperation::kReduceScatter}};

std::vector<PluginLine> lines_of(const cluster::Cluster& cluster,
                                 const std::vector<TunerCommunicatorKind>& groups) {
  return read_tuner_file(
      nccl_tuner_csv(cost::MessageCostModel(cluster), groups, {.about = "a test"}));
}

/// Prices a collective of a group for any buffer size.
struct Priced {
  const cost::MessageCostModel& cost;
  collective::CollectiveOperation collective{};
  const TunerCommunicatorKind& group;

  [[nodiscard]] double seconds(std::uint64_t bytes, collective::CollectiveAlgorithm algorithm,
                               cost::CollectiveProtocol protocol) const {
    const cost::MessageRouteTimes routes = cost.link_line_rates().message_times_by_route(
        {collective, static_cast<double>(bytes), group.layout,
         collective::CollectiveAlgorithm::kLibrary});
    const cost::CollectiveOperationConstants& constants = cost.constants().of(collective);
    const auto times =
        cost::message_start_and_transfer_times(routes, constants, algorithm, protocol);
    return times ? std::sqrt(times->squared_message_seconds(constants.fill)) : INFINITY;
  }

  /// Returns the least seconds over all algorithms and protocols.
  [[nodiscard]] double least_seconds(std::uint64_t bytes) const {
    double least = INFINITY;
    for (const collective::CollectiveAlgorithm algorithm : cost::kCollectiveLibraryAlgorithms) {
      for (const cost::CollectiveProtocol protocol :
           {cost::CollectiveProtocol::kLowLatency, cost::CollectiveProtocol::kLowLatency128,
            cost::CollectiveProtocol::kFull}) {
        least = std::min(least, seconds(bytes, algorithm, protocol));
      }
    }
    return least;
  }

  [[nodiscard]] double seconds_of(const PluginLine& line, std::uint64_t bytes) const {
    const std::map<std::string, collective::CollectiveAlgorithm> ways = {
        {"ring", collective::CollectiveAlgorithm::kRing},
        {"tree", collective::CollectiveAlgorithm::kTree},
        {"nvls", collective::CollectiveAlgorithm::kNvls},
        {"nvls_tree", collective::CollectiveAlgorithm::kNvls}};
    const std::map<std::string, cost::CollectiveProtocol> protocols = {
        {"ll", cost::CollectiveProtocol::kLowLatency},
        {"ll128", cost::CollectiveProtocol::kLowLatency128},
        {"simple", cost::CollectiveProtocol::kFull}};
    return seconds(bytes, ways.at(line.algorithm), protocols.at(line.protocol));
  }
};

/// Returns sizes to test: powers of two and their neighbours, and the ends of every line.
std::set<std::uint64_t> sampled_sizes(const std::vector<PluginLine>& lines) {
  std::set<std::uint64_t> sizes = {0};
  for (int power = 0; power < 45; ++power) {
    for (const std::uint64_t part : {2U, 3U}) sizes.insert((std::uint64_t{1} << power) * part / 2);
  }
  for (const PluginLine& line : lines) {
    sizes.insert(line.min_bytes);
    if (line.max_bytes != kMaxTunerMessageBytes) sizes.insert(line.max_bytes);
  }
  return sizes;
}

void expect_cheapest(const Priced& priced, std::string_view word,
                     const std::vector<PluginLine>& lines) {
  for (const std::uint64_t bytes : sampled_sizes(lines)) {
    const PluginLine* line = line_for(lines, word, bytes, static_cast<int>(priced.group.nodes),
                                      static_cast<int>(priced.group.ranks));
    ASSERT_NE(line, nullptr) << word << " " << bytes;
    ASSERT_LE(priced.seconds_of(*line, bytes), priced.least_seconds(bytes) * (1 + 1e-12))
        << word << " " << bytes;
  }
}

void expect_all_cheapest(std::string_view name, std::int64_t nodes) {
  const cluster::Cluster cluster = cluster::load_cluster(name, nodes);
  const cost::MessageCostModel cost(cluster);
  const std::vector<TunerCommunicatorKind> groups = cluster_tuner_communicators(cluster);
  const std::vector<PluginLine> lines = lines_of(cluster, groups);
  for (const TunerCommunicatorKind& group : groups) {
    for (const auto& [word, collective] : kTuned) {
      SCOPED_TRACE(name);
      expect_cheapest({cost, collective, group}, word, lines);
    }
  }
}

TEST(NcclTuner, ChoosesTheCheapestOnEveryBuiltInCluster) {
  for (const std::string_view name : cluster::built_in_cluster_names()) {
    for (const std::int64_t nodes : {1, 2, 5}) expect_all_cheapest(name, nodes);
  }
}

TEST(NcclTuner, CoversAllSizesWithoutGaps) {
  const cluster::Cluster cluster = cluster::load_cluster("aws-p5-h100", 4);
  std::map<std::tuple<std::string, int, int>, std::uint64_t> next;
  for (const PluginLine& line : lines_of(cluster, cluster_tuner_communicators(cluster))) {
    std::uint64_t& expected = next[{line.collective, line.nodes, line.ranks}];
    EXPECT_EQ(line.min_bytes, expected);
    EXPECT_GE(line.max_bytes, line.min_bytes);
    expected = line.max_bytes + 1;
  }
  EXPECT_EQ(next.size(), 9U);
  for (const auto& [key, after_the_last] : next) EXPECT_EQ(after_the_last, 0U);
}

/// Worked by hand. One protocol starts in 10 us and moves a byte in 1 ns, another starts in 30 us
/// and is twice as fast: both take 50 us for 40,000 bytes.
TEST(NcclTuner, ChangesWhereTheTimesAreEqual) {
  cluster::Cluster cluster = cluster::load_cluster("dgx-a100-80g", 1);
  cost::MachineCollectiveConstants constants;
  cost::CollectiveOperationConstants& gather =
      constants.operations[static_cast<std::size_t>(collective::CollectiveOperation::kAllGather)];
  gather.protocols[0] = {.start_us = 10, .rate = 0.5};
  gather.protocols[1] = {.start_us = 1000, .rate = 1};
  gather.protocols[2] = {.start_us = 30, .rate = 1};
  const cluster::GroupLayout layout = cluster::network_layout_of_strided_group(cluster, 2, 1);
  // Half of the buffer leaves each of the two: 40e3 bytes at 1e9 bytes/s take 20 and 40 us.
  cluster.levels.front().uplink_bytes_per_s = 1e9;
  EXPECT_THAT(tuner_message_size_ranges(cost::MessageCostModel(cluster, constants),
                                        collective::CollectiveOperation::kAllGather, layout),
              ElementsAre(TunerMessageSizeRange{0, 40000, collective::CollectiveAlgorithm::kRing,
                                                cost::CollectiveProtocol::kLowLatency},
                          TunerMessageSizeRange{40001, kMaxTunerMessageBytes,
                                                collective::CollectiveAlgorithm::kRing,
                                                cost::CollectiveProtocol::kFull}));
}

TEST(NcclTuner, KnowsSwitchesThatAddInOneNodeAndInSeveral) {
  const cluster::Cluster cluster = cluster::load_cluster("aws-p5-h100", 2);
  const std::vector<PluginLine> lines = lines_of(cluster, cluster_tuner_communicators(cluster));
  const PluginLine* inside = line_for(lines, "allreduce", std::uint64_t{1} << 30, 1, 8);
  EXPECT_EQ(inside->algorithm, "nvls");
  EXPECT_EQ(inside->protocol, "simple");
  const PluginLine* across = line_for(lines, "allreduce", std::uint64_t{1} << 30, 2, 16);
  EXPECT_EQ(across->algorithm, "nvls_tree");
}

TEST(NcclTuner, HasNoLineForWhatTheModelDoesNotPrice) {
  const cluster::Cluster cluster = cluster::load_cluster("aws-p5-h100", 2);
  const std::vector<PluginLine> lines = lines_of(cluster, cluster_tuner_communicators(cluster));
  EXPECT_EQ(line_for(lines, "broadcast", 1024, 2, 16), nullptr);
  EXPECT_EQ(line_for(lines, "allreduce", 1024, 2, 8), nullptr);
}

TEST(NcclTuner, NodeGroupsDoubleUpToTheCluster) {
  std::vector<std::int64_t> nodes;
  for (const TunerCommunicatorKind& group :
       cluster_tuner_communicators(cluster::load_cluster("dgx-h100", 12))) {
    nodes.push_back(group.nodes);
    EXPECT_EQ(group.ranks, 8 * group.nodes);
  }
  EXPECT_THAT(nodes, ElementsAre(1, 2, 4, 8, 12));
}

/// Returns a plan with tensor 8 inside nodes, data 4 along the rails of four nodes, and experts
/// over two nodes.
plan::PlannedJob planned_on_four_nodes() {
  plan::PlannedJob planned;
  planned.job.cluster = cluster::load_cluster("dgx-h100", 4);
  planned.plan.parallel.tensor = 8;
  planned.plan.parallel.data = 4;
  planned.plan.parallel.expert = 2;
  planned.plan.parallel.expert_tensor = 8;
  return planned;
}

auto is_group(std::int64_t nodes, std::int64_t ranks, const std::string& name) {
  return AllOf(Field(&TunerCommunicatorKind::nodes, nodes),
               Field(&TunerCommunicatorKind::ranks, ranks),
               Field(&TunerCommunicatorKind::name, HasSubstr(name)));
}

TEST(NcclTuner, PlanGroupsAreItsCommunicators) {
  EXPECT_THAT(plan_tuner_communicators(planned_on_four_nodes()),
              ElementsAre(is_group(1, 8, "tensor, norm"), is_group(4, 4, "data-context"),
                          is_group(4, 32, "world")));
}

TEST(NcclTuner, PlanGroupsAreOfExpertsWhereThereAreAny) {
  plan::PlannedJob planned = planned_on_four_nodes();
  planned.job.model.experts = model::MixtureOfExperts{.count = 8, .top_k = 2};
  EXPECT_THAT(plan_tuner_communicators(planned), Contains(is_group(2, 2, "expert, ")));
}

/// The plugin identifies a communicator by its numbers only, so two ranks on a bridge and two that
/// are not look the same.
TEST(NcclTuner, OfGroupsThatLieDifferentlyTheFirstCounts) {
  plan::PlannedJob planned;
  planned.job.cluster = cluster::load_cluster("h100-pcie-8gpu", 1);
  planned.plan.parallel = {.tensor = 2, .pipeline = 2, .data = 2};
  const std::vector<TunerCommunicatorKind> groups = plan_tuner_communicators(planned);
  EXPECT_THAT(groups, Contains(is_group(1, 2, "tensor")));
  EXPECT_THAT(groups.front().others, HasSubstr("data-context"));
  EXPECT_EQ(groups.front().layout,
            cluster::network_layout_of_strided_group(planned.job.cluster, 2, 1));
}

TEST(NcclTuner, NamesOfPeopleStayInTheirComment) {
  const cluster::Cluster cluster = cluster::load_cluster("dgx-h100", 1);
  const std::string text =
      nccl_tuner_csv(cost::MessageCostModel(cluster), cluster_tuner_communicators(cluster),
                     {.about = "mine\nallreduce,0,1" + std::string(1000, 'x'), .channels = 16});
  EXPECT_THAT(text, testing::StartsWith("# mine\\x0aallreduce,0,1xxx"));
  for (const PluginLine& line : read_tuner_file(text)) EXPECT_EQ(line.channels, 16);
}

/// The reader refuses lines for which the lenient plugin would guess.
TEST(TunerPlugin, RefusesWhatThePluginWouldGuess) {
  EXPECT_EQ(read_tuner_file("# note\n\nallreduce, 0, 10,tree,ll,-1,2,16").size(), 1U);
  EXPECT_THROW(read_tuner_file("all_reduce,0,10,tree,ll,-1,2,16\n"), std::runtime_error);
  EXPECT_THROW(read_tuner_file("allreduce,0,10,trees,ll,-1,2,16\n"), std::runtime_error);
  EXPECT_THROW(read_tuner_file("allreduce,0,1e9,tree,ll,-1,2,16\n"), std::runtime_error);
  EXPECT_THROW(read_tuner_file("allreduce,0,10,tree,ll,-1,2\n"), std::runtime_error);
  EXPECT_THROW(read_tuner_file("# " + std::string(300, 'x') + "\n"), std::runtime_error);
}

}  // namespace
}  // namespace stepwright::collective_files
