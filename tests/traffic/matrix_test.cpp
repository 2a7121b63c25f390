#include "stepwright/traffic/matrix.h"

#include <gmock/gmock.h>

#include <map>
#include <random>
#include <sstream>

#include "stepwright/core/error.h"
#include "stepwright/traffic/calls.h"
#include "stepwright/traffic/ledger.h"
#include "tests/traffic/programs.h"

namespace stepwright::traffic {

std::ostream& operator<<(std::ostream& out, const TrafficEdge& e) {
  return out << e.to << ":" << e.bytes;
}

namespace {

using testing::cluster_of;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::message;
using testing::plan_of;
using testing::program_of;

TrafficMatrix matrix_of(const plan::Plan& plan, const std::vector<step::Operator>& operators,
                        const cluster::Cluster& cluster = cluster_of(1, 8)) {
  return {program_of(plan, operators), plan::RankGrid(plan), cluster, plan.collectives};
}

step::Operator send(step::DeviceStream stream, std::int64_t bytes) {
  step::Operator op = message(step::OperatorKind::kSend, step::ParallelismScheme::kPipeline,
                              plan::CommunicatorKind::kPipeline, bytes);
  op.stream = stream;
  op.phase = stream == step::DeviceStream::kPipelineForward ? step::Phase::kForward
                                                            : step::Phase::kDataGradient;
  return op;
}

/// Rank 3 of tensor groups {0..3}, {4..7}: the last rank of a ring sends to the first.
TEST(TrafficMatrix, OfARingSendsToTheNextRankOnly) {
  const TrafficMatrix matrix =
      matrix_of(plan_of({.tensor = 4, .data = 2}),
                {message(step::OperatorKind::kAllReduce, step::ParallelismScheme::kTensor,
                         plan::CommunicatorKind::kTensor, 100),
                 message(step::OperatorKind::kAllGather, step::ParallelismScheme::kTensor,
                         plan::CommunicatorKind::kTensor, 100)});
  EXPECT_THAT(matrix.traffic_sent_by_rank(0), ElementsAre(TrafficEdge{1, 225}));
  EXPECT_THAT(matrix.traffic_sent_by_rank(3), ElementsAre(TrafficEdge{0, 225}));
  EXPECT_THAT(matrix.traffic_sent_by_rank(4), ElementsAre(TrafficEdge{5, 225}));
}

TEST(TrafficMatrix, OfAShiftSendsTheWholeMessage) {
  const TrafficMatrix matrix =
      matrix_of(plan_of({.tensor = 2, .context = 3}),
                {message(step::OperatorKind::kShift, step::ParallelismScheme::kContext,
                         plan::CommunicatorKind::kContext, 100)});
  EXPECT_THAT(matrix.traffic_sent_by_rank(0), ElementsAre(TrafficEdge{2, 100}));
  EXPECT_THAT(matrix.traffic_sent_by_rank(5), ElementsAre(TrafficEdge{1, 100}));
}

TEST(TrafficMatrix, OfAnAllToAllSendsToEveryPeer) {
  const TrafficMatrix matrix =
      matrix_of(plan_of({.expert = 4, .data = 8}),
                {message(step::OperatorKind::kAllToAll, step::ParallelismScheme::kExpert,
                         plan::CommunicatorKind::kExpert, 400)});
  EXPECT_THAT(matrix.traffic_sent_by_rank(5),
              ElementsAre(TrafficEdge{4, 100}, TrafficEdge{6, 100}, TrafficEdge{7, 100}));
}

TEST(TrafficMatrix, OfAPipelineSendsToTheSamePlaceOfTheNeighbour) {
  const TrafficMatrix matrix = matrix_of(plan_of({.tensor = 2, .pipeline = 3}),
                                         {send(step::DeviceStream::kPipelineForward, 8),
                                          send(step::DeviceStream::kPipelineBackward, 5)});
  EXPECT_THAT(matrix.traffic_sent_by_rank(3), ElementsAre(TrafficEdge{1, 5}, TrafficEdge{5, 8}));
  EXPECT_THAT(matrix.traffic_sent_by_rank(5),
              ElementsAre(TrafficEdge{3, 5}));  // the last forward is not sent on
  EXPECT_THAT(matrix.traffic_sent_by_rank(0), ElementsAre(TrafficEdge{2, 8}));
}

TEST(TrafficMatrix, OfAnInterleavedPipelineGoesRound) {
  plan::Plan plan = plan_of({.tensor = 2, .pipeline = 3});
  plan.schedule = {schedule::PipelineScheduleKind::kInterleaved, 2};
  const TrafficMatrix matrix = matrix_of(plan, {send(step::DeviceStream::kPipelineForward, 8),
                                                send(step::DeviceStream::kPipelineBackward, 5)});
  EXPECT_THAT(matrix.traffic_sent_by_rank(5), ElementsAre(TrafficEdge{1, 8}, TrafficEdge{3, 10}));
  EXPECT_THAT(matrix.traffic_sent_by_rank(0), ElementsAre(TrafficEdge{2, 16}, TrafficEdge{4, 5}));
}

TEST(TrafficMatrix, OfBlockingBackwardMessagesGoesBack) {
  step::Operator blocking = send(step::DeviceStream::kPipelineBackward, 5);
  blocking.stream = step::DeviceStream::kCompute;
  EXPECT_THAT(matrix_of(plan_of({.pipeline = 3}), {blocking}).traffic_sent_by_rank(2),
              ElementsAre(TrafficEdge{1, 5}));
}

TEST(TrafficMatrix, OfATiedTableJoinsTheEndsEvenWhereThePipelineIsFast) {
  plan::Plan plan = plan_of({.pipeline = 3, .data = 2});
  plan.rank_order = {{plan::ParallelismAxis::kTensor, plan::ParallelismAxis::kContext,
                      plan::ParallelismAxis::kPipeline, plan::ParallelismAxis::kExpert,
                      plan::ParallelismAxis::kData}};
  const TrafficMatrix matrix =
      matrix_of(plan, {message(step::OperatorKind::kAllReduce, step::ParallelismScheme::kData,
                               plan::CommunicatorKind::kEmbedding, 64)});
  EXPECT_THAT(matrix.traffic_sent_by_rank(3), ElementsAre(TrafficEdge{5, 64}));
  EXPECT_THAT(matrix.traffic_sent_by_rank(4), IsEmpty());
  EXPECT_THAT(matrix.traffic_sent_by_rank(5), ElementsAre(TrafficEdge{3, 64}));
}

// 2 nodes x 4: of the 7/8 X that a rank sends of X = 800, 3/4 X go round the node and 1/2 X/4 along
// the rail.
TEST(TrafficMatrix, OfTwoLevelsGoesRoundTheNodeAndTheRail) {
  plan::Plan plan = plan_of({.data = 8});
  plan.collectives.data = collective::CollectiveAlgorithm::kTwoLevel;
  const std::vector<step::Operator> gather = {message(step::OperatorKind::kAllGather,
                                                      step::ParallelismScheme::kData,
                                                      plan::CommunicatorKind::kDataContext, 800)};
  const TrafficMatrix matrix = matrix_of(plan, gather, cluster_of(2, 4));
  EXPECT_THAT(matrix.traffic_sent_by_rank(3),
              ElementsAre(TrafficEdge{0, 600}, TrafficEdge{7, 100}));
  EXPECT_THAT(matrix.traffic_sent_by_rank(4),
              ElementsAre(TrafficEdge{0, 100}, TrafficEdge{5, 600}));
  const TrafficMatrix uneven = matrix_of(plan, gather, cluster_of(3, 3));
  EXPECT_THAT(uneven.traffic_sent_by_rank(3), ElementsAre(TrafficEdge{4, 700}));
}

/// Inside a node each rank sends to every other behind one switch; the rail is a ring.
TEST(TrafficMatrix, OfAnHoRingGoesToEachInTheNodeAndAlongTheRail) {
  plan::Plan plan = plan_of({.data = 8});
  plan.collectives.data = collective::CollectiveAlgorithm::kHoRing;
  const std::vector<step::Operator> gather = {message(step::OperatorKind::kAllGather,
                                                      step::ParallelismScheme::kData,
                                                      plan::CommunicatorKind::kDataContext, 800)};
  const TrafficMatrix matrix = matrix_of(plan, gather, cluster_of(2, 4));
  EXPECT_THAT(matrix.traffic_sent_by_rank(3),
              ElementsAre(TrafficEdge{0, 200}, TrafficEdge{1, 200}, TrafficEdge{2, 200},
                          TrafficEdge{7, 100}));
  const TrafficMatrix uneven = matrix_of(plan, gather, cluster_of(3, 3));
  EXPECT_THAT(uneven.traffic_sent_by_rank(3), ElementsAre(TrafficEdge{4, 700}));
}

TEST(TrafficMatrix, OfTwoLevelsLeavesModelParallelTrafficOnItsRing) {
  plan::Plan plan = plan_of({.tensor = 8});
  plan.collectives.data = collective::CollectiveAlgorithm::kTwoLevel;
  const TrafficMatrix matrix =
      matrix_of(plan,
                {message(step::OperatorKind::kAllGather, step::ParallelismScheme::kTensor,
                         plan::CommunicatorKind::kTensor, 800)},
                cluster_of(2, 4));
  EXPECT_THAT(matrix.traffic_sent_by_rank(3), ElementsAre(TrafficEdge{4, 700}));
}

// The published claim (2512.24750): combine and the backwards of both use the same pairs, as they
// are or transposed. Balanced, all four are one symmetric matrix.
TEST(TrafficMatrix, OfDispatchAndCombineAreEachOthersTranspose) {
  const TrafficMatrix matrix =
      matrix_of(plan_of({.expert = 4, .data = 8}),
                {message(step::OperatorKind::kAllToAll, step::ParallelismScheme::kExpert,
                         plan::CommunicatorKind::kExpert, 4000)});
  for (std::int64_t from = 0; from < 8; ++from) {
    for (const TrafficEdge& edge : matrix.traffic_sent_by_rank(from)) {
      EXPECT_THAT(matrix.traffic_sent_by_rank(edge.to),
                  ::testing::Contains(TrafficEdge{from, edge.bytes}));
    }
  }
}

constexpr step::OperatorKind kCollectives[] = {
    step::OperatorKind::kAllReduce, step::OperatorKind::kAllGather,
    step::OperatorKind::kReduceScatter, step::OperatorKind::kAllToAll, step::OperatorKind::kShift};
constexpr plan::CommunicatorKind kGroups[] = {
    plan::CommunicatorKind::kTensor,           plan::CommunicatorKind::kContext,
    plan::CommunicatorKind::kDataContext,      plan::CommunicatorKind::kShardInner,
    plan::CommunicatorKind::kShardOuter,       plan::CommunicatorKind::kExpert,
    plan::CommunicatorKind::kExpertModel,      plan::CommunicatorKind::kExpertData,
    plan::CommunicatorKind::kExpertShardInner, plan::CommunicatorKind::kNorm,
    plan::CommunicatorKind::kExpertShardOuter, plan::CommunicatorKind::kWorld};

std::vector<step::Operator> any_messages(std::mt19937& random) {
  std::vector<step::Operator> operators = {send(step::DeviceStream::kPipelineForward, 9),
                                           send(step::DeviceStream::kPipelineBackward, 10)};
  for (const plan::CommunicatorKind group : kGroups) {
    const step::OperatorKind kind = kCollectives[random() % std::size(kCollectives)];
    const auto bytes = static_cast<std::int64_t>(random() % 10'000);
    operators.push_back(message(
        kind, random() % 2 == 0 ? step::ParallelismScheme::kData : step::ParallelismScheme::kTensor,
        group, bytes));
  }
  operators.push_back(message(step::OperatorKind::kAllReduce, step::ParallelismScheme::kData,
                              plan::CommunicatorKind::kEmbedding, 77));
  return operators;
}

plan::Plan any_plan(std::mt19937& random) {
  const auto any = [&](std::int64_t most) {
    return 1 + static_cast<std::int64_t>(random()) % most;
  };
  plan::Plan plan =
      plan_of({.tensor = any(4), .pipeline = any(4), .context = any(3), .data = any(4)});
  if (random() % 2 == 0) plan.parallel.expert = plan.parallel.data;
  plan.sharding.group = random() % 2 == 0 ? plan.parallel.context : 1;
  if (random() % 2 == 0) {
    plan.rank_order = {{plan::ParallelismAxis::kPipeline, plan::ParallelismAxis::kTensor,
                        plan::ParallelismAxis::kExpert, plan::ParallelismAxis::kData,
                        plan::ParallelismAxis::kContext}};
  }
  plan.collectives.data = random() % 2 == 0 ? collective::CollectiveAlgorithm::kTwoLevel
                                            : collective::CollectiveAlgorithm::kRing;
  return plan;
}

/// Computes the matrix of flat rings from explicit lists of ranks.
std::map<std::pair<std::int64_t, std::int64_t>, double> listed(const plan::Plan& plan,
                                                               const step::StepProgram& program) {
  const plan::RankGrid grid(plan);
  std::map<std::pair<std::int64_t, std::int64_t>, double> result;
  for (std::int64_t rank = 0; rank < program.ranks; ++rank) {
    const plan::RankCoordinates at = grid.coordinates(rank);
    for (const StageCommunicationCall& call :
         rank_communication_calls(program, program.stages[at.pipeline], grid, {})) {
      const double bytes = static_cast<double>(call.count) * sent_bytes(call);
      if (call.op->kind == step::OperatorKind::kSend) {
        const std::int64_t stage =
            at.pipeline + (call.op->stream == step::DeviceStream::kPipelineForward ? 1 : -1);
        result[{rank, grid.rank_at_coordinates(at.tensor, at.context, at.data, stage)}] += bytes;
        continue;
      }
      const auto members = grid.group_ranks_containing(call.op->group, rank);
      const auto own = std::find(members.begin(), members.end(), rank) - members.begin();
      const bool each = call.op->kind == step::OperatorKind::kAllToAll;
      const std::int64_t peers = each ? std::ssize(members) - 1 : 1;
      for (std::int64_t i = 1; i <= peers; ++i) {
        const std::int64_t to = members[static_cast<std::size_t>((own + i) % std::ssize(members))];
        result[{rank, to}] += bytes / static_cast<double>(peers);
      }
    }
  }
  return result;
}

TEST(TrafficMatrix, EqualsTheRankListsOfTheGrid) {
  std::mt19937 random(1);
  for (int i = 0; i < 100; ++i) {
    plan::Plan plan = any_plan(random);
    plan.collectives.data = collective::CollectiveAlgorithm::kLibrary;
    const step::StepProgram program = program_of(plan, any_messages(random), 2);
    const TrafficMatrix matrix(program, plan::RankGrid(plan), cluster_of(1, 1), plan.collectives);
    auto expected = listed(plan, program);
    for (std::int64_t from = 0; from < matrix.ranks(); ++from) {
      for (const TrafficEdge& edge : matrix.traffic_sent_by_rank(from)) {
        EXPECT_NE(edge.to, from);
        EXPECT_NEAR((expected[{from, edge.to}]), edge.bytes, 1e-9 * edge.bytes);
        expected.erase({from, edge.to});
      }
    }
    EXPECT_THAT(expected, IsEmpty());
  }
}

TEST(TrafficMatrix, AddsUpToTheLedgerOfEveryRank) {
  std::mt19937 random(2);
  for (int i = 0; i < 100; ++i) {
    const plan::Plan plan = any_plan(random);
    const step::StepProgram program = program_of(plan, any_messages(random), 3);
    const plan::RankGrid grid(plan);
    const TrafficMatrix matrix(program, grid, cluster_of(program.ranks, 2), plan.collectives);
    for (std::int64_t rank = 0; rank < program.ranks; ++rank) {
      double expected = 0;
      for (const auto& [scheme, volume] :
           traffic_totals_by_scheme(count_traffic_of_step(program, rank, grid))) {
        expected += volume.sent_bytes;
      }
      double sent = 0;
      for (const TrafficEdge& edge : matrix.traffic_sent_by_rank(rank)) sent += edge.bytes;
      EXPECT_NEAR(sent, expected, 1e-9 * expected);
    }
  }
}

TEST(WriteMatrix, WritesOneLinePerPairThatTalks) {
  const TrafficMatrix matrix =
      matrix_of(plan_of({.tensor = 3}),
                {message(step::OperatorKind::kAllGather, step::ParallelismScheme::kTensor,
                         plan::CommunicatorKind::kTensor, 4)});
  std::ostringstream all;
  write_traffic_matrix(all, matrix, std::nullopt);
  EXPECT_EQ(all.str(),
            "from,to,bytes\n0,1,2.6666666666666665\n1,2,2.6666666666666665\n"
            "2,0,2.6666666666666665\n");
  std::ostringstream one;
  write_traffic_matrix(one, matrix, 1);
  EXPECT_EQ(one.str(), "from,to,bytes\n1,2,2.6666666666666665\n");
  EXPECT_THROW(write_traffic_matrix(one, matrix, 3), Error);
}

TEST(WriteMatrix, WritesAMillionRanks) {
  const plan::Plan plan = plan_of({.tensor = 8, .pipeline = 16, .data = 8192});
  const TrafficMatrix matrix =
      matrix_of(plan, {message(step::OperatorKind::kAllReduce, step::ParallelismScheme::kTensor,
                               plan::CommunicatorKind::kTensor, 80),
                       message(step::OperatorKind::kAllReduce, step::ParallelismScheme::kData,
                               plan::CommunicatorKind::kDataContext, 80),
                       send(step::DeviceStream::kPipelineForward, 7)});
  std::ostringstream out;
  write_traffic_matrix(out, matrix, std::nullopt);
  const std::string text = out.str();
  // Every rank sends round two rings, and all but the last position on to the next.
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1 + 2 * (1 << 20) + 15 * (1 << 16));
}

}  // namespace
}  // namespace stepwright::traffic
