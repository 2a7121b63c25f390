#include "stepwright/traffic/ledger.h"

#include <gmock/gmock.h>

#include "stepwright/core/error.h"
#include "tests/traffic/programs.h"

namespace stepwright::traffic {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::message;
using testing::plan_of;
using testing::program_of;
using ::testing::SizeIs;

std::vector<TrafficLedgerRow> rows(const plan::Plan& plan, const step::StepProgram& program,
                                   std::optional<std::int64_t> rank = std::nullopt) {
  return count_traffic_of_step(program, rank, plan::RankGrid(plan)).messages;
}

step::Operator all_reduce(std::int64_t bytes) {
  return message(step::OperatorKind::kAllReduce, step::ParallelismScheme::kTensor,
                 plan::CommunicatorKind::kTensor, bytes);
}

// 3 micro-batches x 5 repeats x 8 ranks calls; an all-reduce of 100 over 4 sends 2 * 3/4 * 100.
TEST(Ledger, CountsTheCallsOfAllRanks) {
  const plan::Plan plan = plan_of({.tensor = 4, .data = 2});
  step::Operator op = all_reduce(100);
  op.repeats = 5;
  const auto found = rows(plan, program_of(plan, {op}, 3));
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].operation, step::OperatorKind::kAllReduce);
  EXPECT_EQ(found[0].scheme, step::ParallelismScheme::kTensor);
  EXPECT_EQ(found[0].phase, step::Phase::kForward);
  EXPECT_EQ(found[0].group, plan::CommunicatorKind::kTensor);
  EXPECT_EQ(found[0].group_size, 4);
  EXPECT_EQ(found[0].payload_bytes, 100);
  EXPECT_EQ(found[0].count, 3 * 5 * 8);
  EXPECT_EQ(found[0].sent_bytes_per_rank, 150);
}

TEST(Ledger, OfOneRankCountsItsOwnCalls) {
  const plan::Plan plan = plan_of({.tensor = 4, .pipeline = 2});
  step::StepProgram program = program_of(plan, {all_reduce(100)}, 3);
  program.stages[1].schedule.resize(1);
  EXPECT_EQ(rows(plan, program, 3)[0].count, 3);
  EXPECT_EQ(rows(plan, program, 4)[0].count, 1);
  EXPECT_EQ(rows(plan, program)[0].count, 4 * 3 + 4 * 1);
}

TEST(Ledger, RefusesARankThatDoesNotExist) {
  const plan::Plan plan = plan_of({.tensor = 4});
  const step::StepProgram program = program_of(plan, {all_reduce(100)});
  EXPECT_THROW(rows(plan, program, 4), Error);
  EXPECT_THROW(rows(plan, program, -1), Error);
}

TEST(Ledger, LeavesOutGroupsOfOneAndComputation) {
  const plan::Plan plan = plan_of({.tensor = 1, .data = 2});
  step::Operator computation;
  computation.kind = step::OperatorKind::kLinear;
  const step::Operator lonely =
      message(step::OperatorKind::kSend, step::ParallelismScheme::kPipeline,
              plan::CommunicatorKind::kPipeline, 8);
  EXPECT_THAT(rows(plan, program_of(plan, {all_reduce(100), computation, lonely})), IsEmpty());
}

TEST(Ledger, CountsTheTiedTableAtTheEndsOfThePipelineOnly) {
  const plan::Plan plan = plan_of({.pipeline = 4, .data = 2});
  const step::StepProgram program =
      program_of(plan, {message(step::OperatorKind::kAllReduce, step::ParallelismScheme::kData,
                                plan::CommunicatorKind::kEmbedding, 64)});
  const auto found = rows(plan, program);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].count, 2 * 2);
  EXPECT_EQ(found[0].group_size, 2);
  EXPECT_EQ(found[0].sent_bytes_per_rank, 64);
  EXPECT_THAT(rows(plan, program, 2), IsEmpty());
}

TEST(Ledger, CountsATransferAsASendAndAReceiveThatSendsNothing) {
  const plan::Plan plan = plan_of({.pipeline = 8});
  const auto found = rows(
      plan,
      program_of(plan, {message(step::OperatorKind::kReceive, step::ParallelismScheme::kPipeline,
                                plan::CommunicatorKind::kPipeline, 32),
                        message(step::OperatorKind::kSend, step::ParallelismScheme::kPipeline,
                                plan::CommunicatorKind::kPipeline, 32)}));
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].operation, step::OperatorKind::kSend);
  EXPECT_EQ(found[0].group_size, 2);
  EXPECT_EQ(found[0].sent_bytes_per_rank, 32);
  EXPECT_EQ(found[1].operation, step::OperatorKind::kReceive);
  EXPECT_EQ(found[1].sent_bytes_per_rank, 0);
}

TEST(Ledger, MergesEqualMessagesAndKeepsUnequalOnesApart) {
  const plan::Plan plan = plan_of({.tensor = 2});
  step::Operator data_gradient = all_reduce(10);
  data_gradient.phase = step::Phase::kDataGradient;
  step::Operator weight_gradient = all_reduce(10);
  weight_gradient.phase = step::Phase::kWeightGradient;
  step::Operator recomputed = all_reduce(10);
  recomputed.phase = step::Phase::kRecompute;
  const auto found = rows(plan, program_of(plan, {recomputed, weight_gradient, all_reduce(10),
                                                  data_gradient, all_reduce(20), all_reduce(10)}));
  ASSERT_THAT(found, SizeIs(4));
  EXPECT_EQ(found[0].count, 2 * 2);  // forward, 10 bytes
  EXPECT_EQ(found[1].payload_bytes, 20);
  EXPECT_EQ(found[2].phase, step::Phase::kDataGradient);
  EXPECT_EQ(found[2].count, 2 * 2);
  EXPECT_EQ(found[3].phase, step::Phase::kRecompute);
}

TEST(Ledger, SendsAnEqualPartToEveryPeerOfAnAllToAll) {
  const plan::Plan plan = plan_of({.expert = 4, .data = 4});
  step::Operator dispatch = message(step::OperatorKind::kAllToAll, step::ParallelismScheme::kExpert,
                                    plan::CommunicatorKind::kExpert, 400);
  dispatch.routed = true;
  EXPECT_EQ(rows(plan, program_of(plan, {dispatch}))[0].sent_bytes_per_rank, 300);
}

TEST(Totals, AddUpByScheme) {
  const plan::Plan plan = plan_of({.tensor = 2, .data = 2});
  const auto program =
      program_of(plan, {all_reduce(10), all_reduce(20),
                        message(step::OperatorKind::kReduceScatter, step::ParallelismScheme::kData,
                                plan::CommunicatorKind::kDataContext, 40)});
  const auto found =
      traffic_totals_by_scheme(count_traffic_of_step(program, std::nullopt, plan::RankGrid(plan)));
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found.at(step::ParallelismScheme::kTensor).count, 8);
  EXPECT_EQ(found.at(step::ParallelismScheme::kTensor).payload_bytes, 4 * 30);
  EXPECT_EQ(found.at(step::ParallelismScheme::kTensor).sent_bytes, 4 * 30);
  EXPECT_EQ(found.at(step::ParallelismScheme::kData).sent_bytes, 4 * 20);
}

TEST(Histogram, GroupsSizesByPowersOfTwo) {
  const plan::Plan plan = plan_of({.tensor = 2});
  const auto program = program_of(
      plan, {all_reduce(0), all_reduce(1), all_reduce(255), all_reduce(256), all_reduce(511)});
  const auto found =
      message_size_histogram(count_traffic_of_step(program, std::nullopt, plan::RankGrid(plan)));
  std::vector<std::int64_t> lower;
  for (const auto& [bytes, volume] : found) lower.push_back(bytes);
  EXPECT_THAT(lower, ElementsAre(0, 1, 128, 256));
  EXPECT_EQ(found.at(256).count, 4);
  EXPECT_EQ(found.at(256).payload_bytes, 2 * (256 + 511));
}

}  // namespace
}  // namespace stepwright::traffic
