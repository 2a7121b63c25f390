// What is said of a log beyond its sums: which groups serve which scheme, what is small.
#include "stepwright/logs/characterize.h"

#include <gmock/gmock.h>

#include "stepwright/logs/communicator_roles.h"
#include "stepwright/logs/knee.h"
#include "stepwright/logs/transfer_times.h"
#include "tests/logs/fixtures.h"
#include "tests/logs/nccl_writer.h"
#include "tests/plan/random_plans.h"

namespace stepwright {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Sends of rank 0 of a group of two, by bytes; each takes 10 us and 1 ns a byte.
Log timed_sends(const std::vector<std::int64_t>& bytes) {
  Log log;
  log.sources.push_back({.file = "a"});
  log.communicators.push_back({.name = "0", .size = 2, .ranks = {0, 1}});
  for (const std::int64_t payload : bytes) {
    log.records.push_back({.rank = 0,
                           .payload_bytes = payload,
                           .peer = 1,
                           .duration_s = 10e-6 + 1e-9 * static_cast<double>(payload),
                           .communicator = 0,
                           .operation = LogOperation::kSend});
  }
  return log;
}

TEST(Knee, IsWhereBytesTakeAsLongAsTheStart) {
  const Log log = timed_sends({100, 5000, 40'000, 2'000'000});
  const std::vector<LatencyLine> lines = latency_lines(log);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NEAR(lines[0].latency_s, 10e-6, 1e-12);
  EXPECT_NEAR(lines[0].knee_bytes(), 10'000, 1e-3);
  const std::vector<SmallCalls> small = small_calls(log, std::nullopt);
  ASSERT_EQ(small.size(), 1U);
  EXPECT_EQ(small[0].count, 2);
  EXPECT_EQ(small[0].payload_bytes, 5100);
}

TEST(Knee, IsNotGuessedFromTwoSizes) {
  const Log log = timed_sends({100, 5000, 100});
  EXPECT_TRUE(latency_lines(log).empty());
  EXPECT_TRUE(small_calls(log, std::nullopt).empty());
  EXPECT_EQ(small_calls(log, 1000.0).at(0).count, 2);
}

TEST(Batching, CountsSmallMessagesThatFollowEachOther) {
  Log log = timed_sends({100, 200, 40'000, 300, 400, 500});
  log.records[4].peer = 0;
  const Batching batching = batching_of(log, std::nullopt);
  EXPECT_EQ(batching.messages, 5);
  EXPECT_EQ(batching.batches, 4);  // 100 and 200 go together
  EXPECT_NEAR(batching.saved_s, 10e-6, 1e-9);
}

TEST(TransferTimes, AreTheShortestOfAllRanks) {
  Log log;
  log.communicators.push_back({.name = "0", .size = 2, .ranks = {0, 1}});
  for (const auto& [rank, seconds] : {std::pair{0, 3.0}, {0, 5.0}, {1, 4.0}, {1, 2.0}}) {
    log.records.push_back({.rank = rank,
                           .payload_bytes = 8,
                           .duration_s = seconds,
                           .communicator = 0,
                           .operation = LogOperation::kAllReduce});
  }
  EXPECT_THAT(transfer_times(log), ::testing::ElementsAre(3, 2, 3, 2));
  EXPECT_DOUBLE_EQ(bus_rate(LogOperation::kAllReduce, 4, 1000, 1), 1500);
}

/// What is said of the groups of a plan by their size.
std::map<std::int64_t, std::string> roles_of(const Plan& plan) {
  const Job job = small_job();
  const StepProgram program = build_program(job, plan);
  const Grid grid(plan);
  std::map<std::int64_t, std::string> roles;
  std::vector<std::int64_t> ranks;
  for (std::int64_t rank = 0; rank < program.ranks; ++rank) ranks.push_back(rank);
  for (const CommunicatorRole& role :
       communicator_roles(log_of(nccl_log_of(program, grid, 2, ranks)))) {
    roles.try_emplace(role.group_size, role.probably);
    EXPECT_EQ(role.repeated_bytes, role.payload_bytes);
  }
  return roles;
}

TEST(CommunicatorRoles, FollowFromWhatIsSent) {
  Plan tensor;
  tensor.parallel = {.tensor = 2, .data = 8};
  tensor.sequence_parallel = true;
  EXPECT_THAT(roles_of(tensor)[2], StartsWith("tensor"));
  EXPECT_THAT(roles_of(tensor)[8], HasSubstr("data"));
  Plan pipeline;
  pipeline.parallel = {.pipeline = 2, .data = 8};
  EXPECT_THAT(roles_of(pipeline)[2], StartsWith("pipeline"));
}

TEST(GroupSize, TellsPayloadsThatWereOneRanksPart) {
  Log log = fixture_log({"deepspeed.raw.json"});
  give_group_size(log, 2);
  EXPECT_THAT(sums_of(log), Contains(::testing::Pair(::testing::Pair("all_gather", 2),
                                                     ::testing::Pair(3, 3 * 2 * 8192))));
  EXPECT_THAT(log.sources[0].notes, Contains(HasSubstr("taken to be of 2 ranks")));
}

}  // namespace
}  // namespace stepwright
