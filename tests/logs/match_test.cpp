// Logs that NCCL would have written for random plans, compared with these plans: equal if
// unchanged, and every change is reported.
#include "stepwright/logs/match.h"

#include <gmock/gmock.h>

#include <numeric>

#include "stepwright/logs/steps.h"
#include "stepwright/traffic/ledger.h"
#include "tests/logs/fixtures.h"
#include "tests/logs/nccl_writer.h"
#include "tests/plan/random_plans.h"

namespace stepwright::logs {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct WrittenRun {
  WrittenRun(const plan::Job& job, const plan::Plan& plan)
      : program(step::build_step_program(job, plan)), grid(plan) {}

  [[nodiscard]] std::vector<std::int64_t> all_ranks() const {
    std::vector<std::int64_t> ranks(static_cast<std::size_t>(program.ranks));
    std::iota(ranks.begin(), ranks.end(), 0);
    return ranks;
  }
  [[nodiscard]] LogPlanComparison compared(
      int steps, const std::function<void(std::vector<WrittenCall>&)>& change = {}) const {
    return compare_log_with_plan(program, grid,
                                 log_of(nccl_log_of(program, grid, steps, all_ranks(), change)));
  }

  step::StepProgram program;
  plan::RankGrid grid;
};

plan::Plan tensor_plan() {
  plan::Plan plan;
  plan.parallel = {.tensor = 2, .data = 8};
  plan.sequence_parallel = true;
  return plan;
}

std::string all_of(const LogPlanComparison& found) {
  std::string text;
  for (const std::string& difference : found.differences) text += difference + "\n";
  return text;
}

TEST(CompareLog, FindsNothingInRunsThatDidWhatTheirPlanSays) {
  int compared = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    plan::Dice dice(seed);
    const plan::Job job = plan::random_good_job(dice);
    const plan::Plan plan = plan::random_legal_plan(dice, job);
    const WrittenRun run(job, plan);
    std::int64_t calls = 0;
    for (const traffic::TrafficLedgerRow& message :
         traffic::count_traffic_of_step(run.program, 0, run.grid).messages)
      calls += message.count;
    if (calls == 0 || calls > 3000 || run.program.ranks > 16) continue;
    for (const int steps : {1, 3}) {
      const LogPlanComparison found = run.compared(steps);
      EXPECT_THAT(found.differences, IsEmpty()) << "seed " << seed;
      EXPECT_EQ(found.steps, steps) << "seed " << seed;
      EXPECT_EQ(found.predicted_only + found.logged_only, 0) << "seed " << seed;
      EXPECT_EQ(found.byte_difference, 0) << "seed " << seed;
    }
    ++compared;
  }
  EXPECT_GT(compared, 20);
}

TEST(CompareLog, ExplainsGradientsInAnotherType) {
  plan::Plan plan;
  plan.parallel = {.data = 16};
  plan.accumulate = DType::kBf16;
  const WrittenRun run(plan::small_job(), plan);
  const LogPlanComparison found = run.compared(2, [](std::vector<WrittenCall>& calls) {
    for (WrittenCall& call : calls) {
      if (call.payload_bytes > 64) call.payload_bytes *= 2;
    }
  });
  ASSERT_EQ(found.differences.size(), 1U) << all_of(found);
  EXPECT_THAT(found.differences[0], HasSubstr("gradients are reduced in fp32"));
  EXPECT_GT(found.byte_difference, 0);
  EXPECT_EQ(found.predicted_only, found.logged_only);
}

TEST(CompareLog, ExplainsAnExtraNorm) {
  const WrittenRun run(plan::small_job(), tensor_plan());
  const LogPlanComparison found = run.compared(2, [](std::vector<WrittenCall>& calls) {
    calls.push_back({"AllReduce", calls.front().members, 4, 0});
  });
  EXPECT_THAT(all_of(found), HasSubstr("a norm, a loss or a count that the run sums"));
  EXPECT_EQ(found.logged_only, 2 * 16);
  EXPECT_EQ(found.predicted_only, 0);
  EXPECT_EQ(found.byte_difference, 2 * 16 * 4);
}

TEST(CompareLog, DoesNotAskForALossThatIsNotSummed) {
  plan::Plan plan;
  plan.parallel = {.data = 16};
  const WrittenRun run(plan::small_job(), plan);
  const LogPlanComparison found = run.compared(2, [](std::vector<WrittenCall>& calls) {
    std::erase_if(calls, [](const WrittenCall& call) { return call.payload_bytes == 8; });
  });
  EXPECT_THAT(found.differences, IsEmpty()) << all_of(found);
  EXPECT_EQ(found.predicted_only, 0);
  EXPECT_THAT(found.remarks, Contains(HasSubstr("sums the loss over ranks, the run does not")));
}

TEST(CompareLog, ExplainsInputsThatAreGatheredAgain) {
  plan::Plan plan = tensor_plan();
  plan.tensor_input = plan::GatheredInputPolicy::kKeep;
  const WrittenRun kept(plan::small_job(), plan);
  plan.tensor_input = plan::GatheredInputPolicy::kRegather;
  const WrittenRun again(plan::small_job(), plan);
  const LogPlanComparison found =
      compare_log_with_plan(kept.program, kept.grid,
                            log_of(nccl_log_of(again.program, again.grid, 2, again.all_ranks())));
  EXPECT_THAT(all_of(found), HasSubstr("(re-gather)"));
  EXPECT_EQ(found.predicted_only, 0);
}

TEST(CompareLog, TakesOtherBucketsOfTheSameBytesAsTheSame) {
  plan::Plan plan;
  plan.parallel = {.data = 16};
  const WrittenRun run(plan::small_job(), plan);
  const LogPlanComparison found = run.compared(2, [](std::vector<WrittenCall>& calls) {
    for (std::size_t i = calls.size(); i-- > 0;) {
      if (calls[i].payload_bytes < 1024) continue;
      WrittenCall part = calls[i];
      part.payload_bytes = 512;
      calls[i].payload_bytes -= 512;
      calls.push_back(part);
    }
  });
  EXPECT_THAT(found.differences, IsEmpty());
  EXPECT_THAT(found.remarks, Contains(HasSubstr("buckets")));
}

TEST(CompareLog, ComparesTheRanksThatItHas) {
  const WrittenRun run(plan::small_job(), tensor_plan());
  const LogPlanComparison found = compare_log_with_plan(
      run.program, run.grid, log_of(nccl_log_of(run.program, run.grid, 2, {0, 5})));
  EXPECT_THAT(found.differences, IsEmpty());
  EXPECT_EQ(found.ranks, 2);
  EXPECT_THAT(found.remarks, Contains(HasSubstr("2 of 16 ranks")));
}

TEST(CompareLog, LeavesOutTheStartOfAJobAndIncompleteSteps) {
  const WrittenRun run(plan::small_job(), tensor_plan());
  std::string text = nccl_log_of(run.program, run.grid, 4, {3});
  std::size_t calls = text.find("opCount");
  calls = text.rfind('\n', calls) + 1;
  std::string broadcast = text.substr(calls, text.find('\n', calls) + 1 - calls);
  broadcast.replace(broadcast.find("INFO ") + 5,
                    broadcast.find(": op") - broadcast.find("INFO ") - 5, "Broadcast");
  text.insert(calls, broadcast);
  for (int line = 0; line < 7; ++line) text.erase(text.rfind('\n', text.size() - 2) + 1);
  const LogPlanComparison found = compare_log_with_plan(run.program, run.grid, log_of(text));
  EXPECT_THAT(found.differences, IsEmpty()) << all_of(found);
  EXPECT_EQ(found.steps, 3);
  EXPECT_GT(found.outside, 1);
  EXPECT_THAT(found.remarks, Contains(HasSubstr("outside of whole steps")));
}

TEST(CompareLog, FindsGroupsThatTheLogDoesNotName) {
  const WrittenRun run(plan::small_job(), tensor_plan());
  CommunicationLog log = log_of(nccl_log_of(run.program, run.grid, 2, run.all_ranks()));
  log.records.change([](LoggedCall& record) { record.communicator = -1; });
  EXPECT_THAT(compare_log_with_plan(run.program, run.grid, log).differences, IsEmpty());
}

/// Another model may have about twice as many gradient bytes, which does not mean another type.
TEST(CompareLog, TakesNoOtherModelForAnotherType) {
  plan::Plan plan;
  plan.parallel = {.data = 16};
  const WrittenRun run(plan::small_job(), plan);
  const LogPlanComparison found = run.compared(2, [](std::vector<WrittenCall>& calls) {
    for (WrittenCall& call : calls) {
      if (call.payload_bytes > 1000) call.payload_bytes = call.payload_bytes * 195 / 100;
    }
  });
  EXPECT_THAT(all_of(found), HasSubstr("another model, batch or length"));
  EXPECT_THAT(all_of(found), Not(HasSubstr("16 bits")));
}

TEST(CompareLog, NamesALogWithoutCalls) {
  const WrittenRun run(plan::small_job(), tensor_plan());
  EXPECT_THAT(compare_log_with_plan(run.program, run.grid, {}).differences,
              Contains(HasSubstr("hold no call")));
}

TEST(CompareLog, RemarksOnRanksThatNeverRanTogether) {
  const WrittenRun run(plan::small_job(), tensor_plan());
  CommunicationLog log = log_of(nccl_log_of(run.program, run.grid, 2, run.all_ranks()));
  const auto remarks_with = [&](double apart_s) {
    log.records.change([&](LoggedCall& record) {
      record.enqueued_s =
          apart_s * static_cast<double>(record.rank) + static_cast<double>(record.line % 2);
    });
    return compare_log_with_plan(run.program, run.grid, log).remarks;
  };
  EXPECT_THAT(remarks_with(0), Not(Contains(HasSubstr("different runs"))));
  EXPECT_THAT(remarks_with(100), Contains(HasSubstr("different runs, or the clocks differ")));
}

TEST(CompareLog, NamesALogOfAnotherNumberOfRanks) {
  const WrittenRun run(plan::small_job(), tensor_plan());
  plan::Plan half = tensor_plan();
  half.parallel.data = 4;
  plan::Job job = plan::small_job();
  job.cluster = plan::small_cluster(1, 8);
  const WrittenRun other(job, half);
  const LogPlanComparison found = compare_log_with_plan(
      other.program, other.grid, log_of(nccl_log_of(run.program, run.grid, 1, run.all_ranks())));
  EXPECT_THAT(all_of(found), HasSubstr("The logs are of 16 ranks, the plan is of 8"));
  EXPECT_EQ(found.matched, 0);
}

TEST(CompareLog, NamesAPlanOfAnotherModel) {
  plan::Job job = plan::small_job();
  job.model.hidden = 128;
  job.model.head_dim = 16;
  job.model.ffn = 160;
  const WrittenRun run(plan::small_job(), tensor_plan());
  const WrittenRun other(job, tensor_plan());
  const LogPlanComparison found = compare_log_with_plan(
      other.program, other.grid, log_of(nccl_log_of(run.program, run.grid, 2, run.all_ranks())));
  EXPECT_THAT(found.differences, Not(IsEmpty()));
  EXPECT_GT(found.predicted_only, 0);
  EXPECT_GT(found.logged_only, 0);
}

TEST(CompareLog, KnowsDdpsBucketsThatAreToldOnce) {
  plan::Plan plan;
  plan.parallel = {.data = 16};
  const WrittenRun run(plan::small_job(), plan);
  int call = 0;
  const auto once = [&call](std::vector<WrittenCall>& calls) {
    if (call++ % 3 == 1) calls.push_back({"Broadcast", calls.front().members, 32, 0});
  };
  CommunicationLog log = log_of(nccl_log_of(run.program, run.grid, 3, run.all_ranks(), once));
  for (LogFileReadResult& source : log.sources) source.steps = 3;
  const LogPlanComparison found = compare_log_with_plan(run.program, run.grid, log);
  EXPECT_THAT(found.differences, IsEmpty()) << all_of(found);
  EXPECT_THAT(found.remarks, Contains(HasSubstr("broadcasts the order of its buckets")));
}

TEST(CompareLog, TakesANumberForEachTensorForANorm) {
  plan::Plan plan;
  plan.parallel = {.data = 16};
  plan.sharding = *plan::sharding_named_by_word("GGG");
  const WrittenRun run(plan::small_job(), plan);
  const LogPlanComparison found = run.compared(2, [](std::vector<WrittenCall>& calls) {
    for (WrittenCall& call : calls) {
      if (call.name == "AllReduce" && call.payload_bytes == 4) call.payload_bytes = 4 * 39;
    }
  });
  EXPECT_THAT(found.differences, IsEmpty()) << all_of(found);
}

TEST(CompareLog, ClocksOfRanksMayDiffer) {
  const WrittenRun run(plan::small_job(), tensor_plan());
  const CommunicationLog log = log_of(nccl_log_of(run.program, run.grid, 2, run.all_ranks()));
  CommunicationLog shifted = log;
  shifted.records.change([](LoggedCall& record) {
    record.enqueued_s = record.start_s =
        1e6 * static_cast<double>(record.rank) + static_cast<double>(record.line);
    record.duration_s = 1e-3;
  });
  const LogPlanComparison found = compare_log_with_plan(run.program, run.grid, shifted);
  EXPECT_THAT(found.differences, IsEmpty()) << all_of(found);
  for (const PlannedAndLoggedCalls& row : found.rows) {
    EXPECT_NEAR(row.transfer_s, row.seconds, 1e-9);  // all ranks took equally long, so none waited
  }
}

TEST(CompareLog, SaysWhenRanksHoldOtherSteps) {
  const WrittenRun run(plan::small_job(), tensor_plan());
  const std::string text =
      nccl_log_of(run.program, run.grid, 3, {0}) + nccl_log_of(run.program, run.grid, 2, {1});
  const LogPlanComparison found = compare_log_with_plan(run.program, run.grid, log_of(text));
  EXPECT_THAT(found.differences, IsEmpty()) << all_of(found);
  EXPECT_THAT(found.remarks, Contains(HasSubstr("hold 2 steps, those of others 3")));
}

TEST(CompareLog, NamesARestart) {
  const WrittenRun run(plan::small_job(), tensor_plan());
  std::string text = nccl_log_of(run.program, run.grid, 1, {0});
  std::string again = text;
  for (std::size_t at = 0; (at = again.find(":100:", at)) != std::string::npos;) {
    again.replace(at, 5, ":777:");
  }
  const LogPlanComparison found =
      compare_log_with_plan(run.program, run.grid, log_of(text + again));
  EXPECT_THAT(all_of(found), HasSubstr("Rank 0 was started 2 times"));
}

TEST(FindRepetition, FindsTheLongestEndThatRepeats) {
  const std::vector<std::int32_t> calls = {9, 8, 1, 1, 2, 1, 1, 2, 1, 1, 2, 7};
  const CallRepetition found = find_call_repetition(calls);
  EXPECT_EQ(found.first, 2U);
  EXPECT_EQ(found.period, 3U);
  EXPECT_EQ(found.repeats, 3U);
  EXPECT_EQ(find_call_repetition(std::vector<std::int32_t>{1, 2, 3}).repeats, 0U);
  EXPECT_EQ(find_call_repetition({}).repeats, 0U);
}

}  // namespace
}  // namespace stepwright::logs
