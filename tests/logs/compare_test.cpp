// Executed calls compared with predicted ones, with and without payloads that depend on the data.
#include "stepwright/logs/compare.h"

#include <gmock/gmock.h>

#include "tests/plan/random_plans.h"

namespace stepwright::logs {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A run with experts on sixteen ranks that sent exactly what its program predicts.
struct ExpertRun {
  explicit ExpertRun(plan::Routing routing) {
    plan::Job job = plan::small_expert_job();
    job.routing = routing;
    job.imbalance = 1.25;
    plan::Plan plan;
    plan.parallel = {.expert = 4, .data = 16};
    program = step::build_step_program(job, plan);
    grid = plan::RankGrid(plan);
    executed = {.ranks = 16, .steps = 1, .calls = planned_calls(program, grid)};
  }

  /// Returns a rank's first exchange that brings rows back to their tokens.
  ProcessGroupCall& combine(std::int64_t rank) {
    for (ProcessGroupCall& call :
         executed.calls.at({rank, plan::CommunicatorKind::kExpert, "compute"})) {
      if (call.name == "experts.combine" && call.phase == step::Phase::kForward) return call;
    }
    throw std::logic_error("no such call");
  }
  [[nodiscard]] LedgerComparison compared() const {
    return compare_message_ledgers(program, grid, executed);
  }

  step::StepProgram program;
  plan::RankGrid grid{plan::Plan{}};
  ExecutedMessageLedger executed;
};

TEST(CompareLedgers, FindsNothingInARunThatDidWhatItsPlanSays) {
  for (const plan::Routing routing : {plan::Routing::kBalanced, plan::Routing::kLearned}) {
    const ExpertRun run(routing);
    EXPECT_THAT(run.compared().differences, IsEmpty());
    EXPECT_EQ(run.compared().routed.empty(), routing == plan::Routing::kBalanced);
  }
}

TEST(CompareLedgers, ReportsLearnedPayloadsAgainstMeanAndBound) {
  ExpertRun run(plan::Routing::kLearned);
  const std::int64_t mean = run.combine(0).payload_bytes;
  run.combine(0).payload_bytes += mean / 2;
  run.combine(1).payload_bytes -= mean / 2;
  const LedgerComparison found = run.compared();
  EXPECT_THAT(found.differences, IsEmpty());
  const auto row = std::ranges::find_if(found.routed, [](const RouterDependentCalls& one) {
    return one.call.name == "experts.combine" && one.call.phase == step::Phase::kForward;
  });
  ASSERT_NE(row, found.routed.end());
  EXPECT_EQ(row->call.payload_bytes, mean);
  EXPECT_EQ(row->executed_bytes, mean * row->calls);
  EXPECT_EQ(row->largest_bytes, mean + mean / 2);
  EXPECT_EQ(row->bound_bytes, 1.25 * static_cast<double>(mean));
  EXPECT_EQ(row->beyond, 1);
}

TEST(CompareLedgers, FindsRowsThatAnExchangeLost) {
  ExpertRun run(plan::Routing::kLearned);
  run.combine(0).payload_bytes -= 128;
  const LedgerComparison found = run.compared();
  ASSERT_EQ(found.differences.size(), 1U);
  EXPECT_THAT(found.differences.front(), HasSubstr("all_to_all of experts.combine, forward"));
}

TEST(CompareLedgers, FindsOtherPayloadsOfBalancedRouting) {
  ExpertRun run(plan::Routing::kBalanced);
  run.combine(0).payload_bytes += 128;
  run.combine(1).payload_bytes -= 128;
  EXPECT_THAT(run.compared().differences, ::testing::Not(IsEmpty()));
}

TEST(CompareLedgers, FindsAnotherOrderOfLearnedCalls) {
  ExpertRun run(plan::Routing::kLearned);
  run.combine(0).name = "experts.dispatch";
  EXPECT_THAT(run.compared().differences, ::testing::Not(IsEmpty()));
}

}  // namespace
}  // namespace stepwright::logs
