#include "stepwright/logs/predicted_times.h"

#include <gmock/gmock.h>

#include "stepwright/traffic/ledger.h"
#include "tests/logs/fixtures.h"
#include "tests/logs/nccl_writer.h"
#include "tests/plan/random_plans.h"

namespace stepwright::logs {
namespace {

using ::testing::DoubleNear;
using ::testing::Optional;

/// Returns a time of one second for each call.
std::vector<std::vector<double>> second_each(const step::StepProgram& program) {
  std::vector<std::vector<double>> times;
  for (const step::OperatorTemplate& piece : program.templates) {
    std::vector<double>& of_piece = times.emplace_back();
    for (const step::Operator& op : piece.operators) of_piece.push_back(op.repeats);
  }
  return times;
}

TEST(PredictedTimes, EveryPredictedCallTakesItsTime) {
  std::int64_t rows = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    plan::Dice dice(seed);
    const plan::Job job = plan::random_good_job(dice);
    const plan::Plan plan = plan::random_legal_plan(dice, job);
    if (plan.parallel.ranks() > 16 || plan.parallel.ranks() == 1) continue;
    const step::StepProgram program = step::build_step_program(job, plan);
    const plan::RankGrid grid(plan);
    std::int64_t calls = 0;
    for (const traffic::TrafficLedgerRow& message :
         traffic::count_traffic_of_step(program, 0, grid).messages)
      calls += message.count;
    if (calls == 0 || calls > 3000) continue;
    LogPlanComparison found = compare_log_with_plan(
        program, grid, log_of(nccl_log_of(program, grid, 2, {0, program.ranks - 1})));
    add_predicted_call_times(found, program, grid, second_each(program));
    for (const PlannedAndLoggedCalls& row : found.rows) {
      EXPECT_NEAR(row.predicted_s, static_cast<double>(row.predicted), 1e-9 * row.predicted_s);
      rows += row.predicted > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(rows, 100);
}

TEST(LoggedStep, IsTheMedianFromMarkToMark) {
  CommunicationLog log;
  EXPECT_FALSE(median_logged_step_s(log));
  log.sources = {{.step_starts_s = {5, 7, 9.5}}, {.step_starts_s = {100, 101}}};
  EXPECT_THAT(median_logged_step_s(log), Optional(DoubleNear(2, 1e-12)));
}

}  // namespace
}  // namespace stepwright::logs
