// Conclusions from a log beyond its sums: which scheme each group serves, and which messages are
// small.
#include "stepwright/logs/characterize.h"

#include <gmock/gmock.h>

#include "stepwright/logs/communicator_roles.h"
#include "stepwright/logs/knee.h"
#include "stepwright/logs/routed_traffic.h"
#include "stepwright/logs/transfer_times.h"
#include "tests/logs/fixtures.h"
#include "tests/logs/nccl_writer.h"
#include "tests/plan/random_plans.h"

namespace stepwright::logs {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Returns a log of sends by rank 0 in a group of two, by bytes; each takes 10 us plus 1 ns per
/// byte.
CommunicationLog timed_sends(const std::vector<std::int64_t>& bytes) {
  CommunicationLog log;
  log.sources.push_back({.file = "a"});
  log.communicators.push_back({.name = "0", .size = 2, .ranks = {0, 1}});
  for (const std::int64_t payload : bytes) {
    log.records.push_back({.rank = 0,
                           .payload_bytes = payload,
                           .peer = 1,
                           .duration_s = 10e-6 + 1e-9 * static_cast<double>(payload),
                           .communicator = 0,
                           .operation = LoggedOperation::kSend});
  }
  return log;
}

TEST(Knee, IsWhereBytesTakeAsLongAsTheStart) {
  const CommunicationLog log = timed_sends({100, 5000, 40'000, 2'000'000});
  const std::vector<LatencyBandwidthFit> lines = latency_bandwidth_fits(log);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NEAR(lines[0].latency_s, 10e-6, 1e-12);
  EXPECT_NEAR(lines[0].latency_bandwidth_knee_bytes(), 10'000, 1e-3);
  const std::vector<LatencyDominatedCalls> small =
      latency_dominated_calls(log, latency_bandwidth_fits(log), std::nullopt);
  ASSERT_EQ(small.size(), 1U);
  EXPECT_EQ(small[0].count, 2);
  EXPECT_EQ(small[0].payload_bytes, 5100);
}

TEST(Knee, IsNotGuessedFromTwoSizes) {
  const CommunicationLog log = timed_sends({100, 5000, 100});
  EXPECT_TRUE(latency_bandwidth_fits(log).empty());
  EXPECT_TRUE(latency_dominated_calls(log, latency_bandwidth_fits(log), std::nullopt).empty());
  EXPECT_EQ(latency_dominated_calls(log, {}, 1000.0).at(0).count, 2);
}

TEST(BatchableMessages, CountsSmallMessagesThatFollowEachOther) {
  CommunicationLog log = timed_sends({100, 200, 40'000, 300, 400, 500});
  LoggedCall fifth = log.records[4];
  fifth.peer = 0;
  log.records.set(4, fifth);
  const BatchableMessages batching = batching_of(log, latency_bandwidth_fits(log), std::nullopt);
  EXPECT_EQ(batching.messages, 5);
  EXPECT_EQ(batching.batches, 4);  // 100 and 200 go together
  EXPECT_NEAR(batching.saved_s, 10e-6, 1e-9);
}

TEST(TransferTimes, AreTheShortestOfAllRanks) {
  CommunicationLog log;
  log.communicators.push_back({.name = "0", .size = 2, .ranks = {0, 1}});
  for (const auto& [rank, seconds] : {std::pair{0, 3.0}, {0, 5.0}, {1, 4.0}, {1, 2.0}}) {
    log.records.push_back({.rank = rank,
                           .payload_bytes = 8,
                           .duration_s = seconds,
                           .communicator = 0,
                           .operation = LoggedOperation::kAllReduce});
  }
  EXPECT_THAT(logged_transfer_seconds(log), ::testing::ElementsAre(3, 2, 3, 2));
  EXPECT_DOUBLE_EQ(logged_bus_bandwidth(LoggedOperation::kAllReduce, 4, 1000, 1), 1500);
}

TEST(Volumes, OfCallsWithoutAnyBytesCountNone) {
  CommunicationLog log;
  log.communicators.push_back({.name = "0", .size = 2, .ranks = {0, 1}});
  for (const std::int64_t logged : {kUnknown, std::int64_t{24}}) {
    log.records.push_back({.rank = 0,
                           .logged_bytes = logged,
                           .count = 3,
                           .communicator = 0,
                           .operation = LoggedOperation::kAllToAll});
  }
  const std::vector<LoggedOperationVolume> rows = operation_volumes(log);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].unknown, 6);
  EXPECT_EQ(rows[0].logged_bytes, 72);
}

/// Returns the kinds of parallelism that `summarise_logged_calls` names for the groups of a plan,
/// by group size.
std::map<std::int64_t, std::string> roles_of(const plan::Plan& plan) {
  const plan::Job job = plan::small_job();
  const step::StepProgram program = step::build_step_program(job, plan);
  const plan::RankGrid grid(plan);
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
  plan::Plan tensor;
  tensor.parallel = {.tensor = 2, .data = 8};
  tensor.sequence_parallel = true;
  EXPECT_THAT(roles_of(tensor)[2], StartsWith("tensor"));
  EXPECT_THAT(roles_of(tensor)[8], HasSubstr("data"));
  plan::Plan pipeline;
  pipeline.parallel = {.pipeline = 2, .data = 8};
  EXPECT_THAT(roles_of(pipeline)[2], StartsWith("pipeline"));
}

TEST(CommunicatorRoles, TellsUpdatesThatGatherFromUsesThatDo) {
  plan::Plan plan;
  plan.parallel = {.data = 16};
  plan.accumulate = DType::kBf16;  // Calls are written as bytes: one type for both.
  plan.sharding = *plan::sharding_named_by_word("NNG");
  EXPECT_THAT(roles_of(plan)[16], HasSubstr("(ZeRO-1"));
  // Buckets gathered in four times as many calls as they are scattered in.
  plan.parameter_bucket = plan.gradient_bucket / 4;
  EXPECT_THAT(roles_of(plan)[16], HasSubstr("(ZeRO-1"));
  plan.sharding = *plan::sharding_named_by_word("GGG");
  EXPECT_THAT(roles_of(plan)[16], HasSubstr("(ZeRO-3, FSDP)"));
}

/// The trace has three steps with two routed layers, each with one exchange in either direction;
/// the expected figures come from the splits passed to PyTorch.
TEST(RouterDecidedTraffic, IsWhatNoPlanKnowsOfARunWithExperts) {
  const CommunicationLog log = fixture_log(
      {"experts.trace.0.json.gz", "experts.trace.1.json.gz", "experts.trace.2.json.gz"});
  const RouterDecidedTraffic routed = router_decided_traffic_of_log(log);
  EXPECT_EQ(routed.routed_bytes, 294'912);
  EXPECT_EQ(routed.unsaid_bytes, 0);
  EXPECT_EQ(routed.steps, 3);
  EXPECT_NEAR(routed.moved, 0.104167, 1e-6);
  EXPECT_NEAR(routed.moved_of_exchange, 0.151042, 1e-6);
  EXPECT_NEAR(routed.uneven, 0.154803, 1e-6);
  double sent = 0;
  for (const auto& [pair, bytes] : routed.sent) sent += bytes;
  EXPECT_NEAR(3 * sent, 294'912, 1e-6);
  std::int64_t payload = 0;
  for (const LoggedOperationVolume& row : operation_volumes(log)) payload += row.payload_bytes;
  EXPECT_EQ(routed.payload_bytes, payload);
}

/// Returns an exchange of three ranks as NCCL logs it (sends and receives). In the second step,
/// rank 0 sends `moved` bytes to rank 1 instead of rank 2.
std::string written_exchange(int step, int moved) {
  std::string text;
  for (int rank = 0; rank < 3; ++rank) {
    const std::string prefix = "h:1" + std::to_string(rank) + ":1 [0] NCCL INFO ";
    if (step == 0) {
      text += prefix + "ncclCommInitRank comm 0x5 rank " + std::to_string(rank) +
              " nranks 3 cudaDev 0 busId 1 commId 0x9 - Init COMPLETE\n";
    }
    const auto call = [&](const std::string& name, int count, int root) {
      text += prefix + name + ": opCount " + std::to_string(2 * step) +
              " sendbuff 0x1 recvbuff 0x2 count " + std::to_string(count) +
              " datatype 0 op 0 root " + std::to_string(root) + " comm 0x5 [nranks=3] stream 0x9\n";
    };
    for (int peer = 0; peer < 3; ++peer) {
      const int more = rank != 0 || peer == 0 ? 0 : peer == 1 ? moved : -moved;
      call("Send", 10 * (peer + 1) + more, peer);
      call("Recv", 10, peer);
    }
    call("AllReduce", 60, 0);
  }
  return text;
}

TEST(RouterDecidedTraffic, IsReadFromSendsOfNccl) {
  const RouterDecidedTraffic routed =
      router_decided_traffic_of_log(log_of(written_exchange(0, 0) + written_exchange(1, 5)));
  EXPECT_EQ(routed.routed_bytes, 2 * 3 * 60);
  EXPECT_EQ(routed.payload_bytes, 2 * 2 * 3 * 60);
  EXPECT_EQ(routed.steps, 2);
  EXPECT_NEAR(routed.moved, 10.0 / 360, 1e-12);
  EXPECT_NEAR(routed.sent.at({0, 1}), 22.5, 1e-12);
}

TEST(RouterDecidedTraffic, IsNoneWhereAllSendAlike) {
  EXPECT_EQ(router_decided_traffic_of_log(fixture_log({"calls.trace.0.json.gz"})).routed_bytes, 0);
}

TEST(GroupSize, TellsPayloadsThatWereOneRanksPart) {
  CommunicationLog log = fixture_log({"deepspeed.raw.json"});
  assume_group_size(log, 2);
  EXPECT_THAT(sums_of(log), Contains(::testing::Pair(::testing::Pair("all_gather", 2),
                                                     ::testing::Pair(3, 3 * 2 * 8192))));
  EXPECT_THAT(log.sources[0].notes, Contains(HasSubstr("assumed to have 2 ranks")));
}

}  // namespace
}  // namespace stepwright::logs
