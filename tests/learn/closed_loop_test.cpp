#include "stepwright/learn/closed_loop.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "stepwright/cluster/catalog.h"
#include "stepwright/core/error.h"
#include "stepwright/learn/timed_plans.h"
#include "stepwright/model/catalog.h"

namespace stepwright::learn {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kLoopHeader =
    "id,model,layers,gpus,micro_batch,tp,pp,plan,outcome,measured_metric,measured_value\n";

plan::Job loop_job() {
  plan::Job job;
  job.cluster = *cluster::built_in_cluster("dgx-a100-80g", 1);
  job.framework = {.name = "megatron-lm", .version = ""};
  job.sequences = 32;
  job.length = 2048;
  job.model = *model::built_in_model("llama-2-7b");
  job.model.layers = 8;
  return job;
}

struct Choice {
  int micro_batch = 1;
  int tensor = 1;
  int pipeline = 1;
};
const std::vector<Choice> kLoopChoices = {{1, 1, 1}, {1, 2, 1}, {2, 2, 1}, {1, 4, 1}, {2, 4, 1},
                                          {1, 2, 2}, {2, 2, 2}, {4, 4, 1}, {1, 8, 1}, {4, 1, 2}};

/// Returns a row that takes model and cluster from the job.
std::string row_of(std::size_t index, const std::string& outcome = "", double seconds = 0) {
  const Choice& choice = kLoopChoices[index];
  const std::string measured = seconds > 0 ? fmt::format("{}", seconds) : "";
  return fmt::format(
      "plan-{},,,,{},{},{},\"{{sharding: NNN, recompute: none}}\",{},iteration_time_s,{}\n", index,
      choice.micro_batch, choice.tensor, choice.pipeline, outcome, measured);
}

MeasuredRunTable read(const std::string& rows, const plan::Job& job) {
  return read_measured_runs(parse_csv(kLoopHeader + rows, "runs.csv"), &job);
}

MeasuredRunTable all_candidates(const plan::Job& job) {
  std::string rows;
  for (std::size_t i = 0; i < kLoopChoices.size(); ++i) rows += row_of(i);
  return read(rows, job);
}

/// Returns step times of a device whose products and messages reach a smaller share of their rates.
std::vector<double> truth(const MeasuredRunTable& candidates) {
  cost::TrainingConditions slow = cost::built_in_training_conditions();
  for (cost::DeviceTrainingFactors& device : slow.devices) {
    device.product_rate *= 0.9;
    device.inside_rate *= 0.6;
  }
  std::vector<double> seconds;
  for (const plan::PlannedJob& planned : candidates.plans)
    seconds.push_back(simulated_step_s(planned, slow));
  return seconds;
}

MeasuredRunsVerdict answer(const plan::Job& job, const std::string& rows,
                           const MeasuredRunTable& candidates, std::size_t next = 1) {
  return suggest_plans_to_measure(job, read(rows, job), &candidates,
                                  {.next = next, .tune = {.threads = 2}});
}

std::size_t index_of(const PlanWithExpectedTime& plan) { return std::stoul(plan.id.substr(5)); }

TEST(ClosedLoop, BeforeAnyRunTheBestIsThePredictedFastestAndItIsTheFirstToMeasure) {
  const plan::Job job = loop_job();
  const MeasuredRunTable candidates = all_candidates(job);
  ASSERT_THAT(candidates.plans, SizeIs(kLoopChoices.size()));
  const MeasuredRunsVerdict loop = answer(job, "", candidates);
  ASSERT_TRUE(loop.best.has_value());
  double least = 1e9;
  for (const plan::PlannedJob& planned : candidates.plans) {
    least = std::min(least, simulated_step_s(planned, cost::built_in_training_conditions()));
  }
  EXPECT_NEAR(loop.best->expected_s, least, 1e-6 * least);
  ASSERT_THAT(loop.next, SizeIs(1));
  EXPECT_EQ(loop.next[0].id, loop.best->id);
  EXPECT_FALSE(loop.stop);
  EXPECT_THAT(loop.learned, IsEmpty());
}

TEST(ClosedLoop, AFewMeasurementsFindTheBestPlanOfAnotherMachine) {
  const plan::Job job = loop_job();
  const MeasuredRunTable candidates = all_candidates(job);
  const std::vector<double> seconds = truth(candidates);
  std::string rows;
  double best = 1e9;
  bool stopped = false;
  for (int round = 0; round < 4 && !stopped; ++round) {
    const MeasuredRunsVerdict loop = answer(job, rows, candidates);
    stopped = loop.stop;
    if (stopped) break;
    const std::size_t next = index_of(loop.next.at(0));
    rows += row_of(next, "ok", seconds[next]);
    best = std::min(best, seconds[next]);
  }
  EXPECT_LE(best, 1.01 * *std::ranges::min_element(seconds));
}

TEST(ClosedLoop, WhatRunsTeachIsSharedByPlansThatDidNotRun) {
  const plan::Job job = loop_job();
  const MeasuredRunTable candidates = all_candidates(job);
  const std::vector<double> seconds = truth(candidates);
  const MeasuredRunsVerdict before = answer(job, "", candidates, kLoopChoices.size());
  const MeasuredRunsVerdict after =
      answer(job, row_of(0, "ok", seconds[0]) + row_of(3, "ok", seconds[3]), candidates,
             kLoopChoices.size());
  const auto error = [&](const MeasuredRunsVerdict& loop) {
    double sum = 0;
    for (const PlanWithExpectedTime& plan : loop.next) {
      const std::size_t i = index_of(plan);
      if (i != 0 && i != 3) sum += std::abs(std::log(plan.expected_s / seconds[i]));
    }
    return sum;
  };
  EXPECT_LT(error(after), 0.5 * error(before));
  EXPECT_FALSE(after.learned.empty());
}

TEST(ClosedLoop, NamesDifferentOpenPlansWithBoundsAroundWhatIsExpected) {
  const plan::Job job = loop_job();
  const MeasuredRunTable candidates = all_candidates(job);
  const MeasuredRunsVerdict loop =
      answer(job, row_of(2, "ok", truth(candidates)[2]), candidates, kLoopChoices.size() + 5);
  std::set<std::string> ids;
  for (const PlanWithExpectedTime& plan : loop.next) {
    EXPECT_TRUE(ids.insert(plan.id).second);
    EXPECT_NE(plan.id, "plan-2");
    EXPECT_LT(plan.low_s, plan.expected_s);
    EXPECT_GT(plan.high_s, plan.expected_s);
  }
  EXPECT_EQ(ids.size(), kLoopChoices.size() - 1);
}

TEST(ClosedLoop, AMeasuredPlanIsKnownBetterThanTheOthers) {
  const plan::Job job = loop_job();
  const MeasuredRunTable candidates = all_candidates(job);
  const std::vector<double> seconds = truth(candidates);
  const MeasuredRunsVerdict loop = answer(job, row_of(0, "ok", 0.5 * seconds[0]), candidates);
  ASSERT_TRUE(loop.best.has_value());
  EXPECT_EQ(loop.best->id, "plan-0");
  EXPECT_TRUE(loop.best->ran);
  EXPECT_NEAR(loop.best->expected_s, 0.5 * seconds[0], 1e-9);
  EXPECT_LT(std::log(loop.best->high_s / loop.best->low_s), 0.1);
}

TEST(ClosedLoop, WhatRanOutOfMemoryIsNeitherBestNorAskedForAgain) {
  const plan::Job job = loop_job();
  const MeasuredRunTable candidates = all_candidates(job);
  const std::size_t first = index_of(answer(job, "", candidates).next.at(0));
  for (const char* outcome : {"oom", "failed"}) {
    const MeasuredRunsVerdict loop =
        answer(job, row_of(first, outcome), candidates, kLoopChoices.size());
    EXPECT_NE(loop.best->id, fmt::format("plan-{}", first));
    for (const PlanWithExpectedTime& plan : loop.next) EXPECT_NE(index_of(plan), first);
  }
}

TEST(ClosedLoop, ARunOutOfMemoryMakesLargerPlansLessSure) {
  const plan::Job job = loop_job();
  const MeasuredRunTable candidates = all_candidates(job);
  const auto of = [&](const MeasuredRunsVerdict& loop) {
    std::map<std::string, double> sure;
    for (const PlanWithExpectedTime& plan : loop.next) sure[plan.id] = plan.p_fits;
    return sure;
  };
  const auto before = of(answer(job, "", candidates, kLoopChoices.size()));
  const auto after = of(answer(job, row_of(8, "oom"), candidates, kLoopChoices.size()));
  for (const auto& [id, sure] : after) EXPECT_LE(sure, before.at(id)) << id;
}

TEST(ClosedLoop, SearchesWhereNoCandidatesAreGiven) {
  const plan::Job job = loop_job();
  const MeasuredRunsVerdict loop =
      suggest_plans_to_measure(job, read("", job), nullptr, {.next = 3, .tune = {.threads = 2}});
  ASSERT_TRUE(loop.best.has_value());
  EXPECT_THAT(loop.next, SizeIs(3));
  EXPECT_TRUE(loop.best->id.empty());
}

TEST(ClosedLoop, RowsOfAnotherJobAreSkippedWithTheReason) {
  const plan::Job job = loop_job();
  const MeasuredRunTable runs =
      read_measured_runs(parse_csv("id,gpus,micro_batch,tp,measured_metric,measured_value,outcome\n"
                                   "a,16,1,1,iteration_time_s,3,ok\n"
                                   "b,,1,1,iteration_time_s,3,fine\n"
                                   "c,,1,1,iteration_time_s,3,\n",
                                   "runs.csv"),
                         &job);
  ASSERT_THAT(runs.skipped, SizeIs(2));
  EXPECT_THAT(runs.skipped[0].reason, testing::HasSubstr("devices 16 instead of 8"));
  EXPECT_THAT(runs.skipped[1].reason, testing::HasSubstr("outcome"));
  ASSERT_THAT(runs.runs, SizeIs(1));
  EXPECT_EQ(runs.runs[0].outcome, MeasuredRunOutcome::kOk);
  EXPECT_EQ(runs.runs[0].seconds, 3);
}

TEST(ClosedLoop, SlowRunsMakePredictionsSlower) {
  const plan::Job job = loop_job();
  const MeasuredRunTable candidates = all_candidates(job);
  const double first_s =
      1.3 * simulated_step_s(candidates.plans[0], cost::built_in_training_conditions());
  const double second_s =
      1.3 * simulated_step_s(candidates.plans[3], cost::built_in_training_conditions());
  const MeasuredRunsVerdict loop =
      answer(job, row_of(0, "ok", first_s) + row_of(3, "ok", second_s), candidates, 8);
  ASSERT_THAT(loop.runs, SizeIs(2));
  for (const RunWithPrediction& run : loop.runs) {
    EXPECT_NEAR(run.before_s, run.measured_s / 1.3, 1e-6 * run.measured_s);
    EXPECT_GT(run.now_s, run.before_s);
    EXPECT_LT(std::abs(run.now_s / run.measured_s - 1), 0.1);
  }
  EXPECT_THAT(loop.contrary, IsEmpty());
  for (const PlanWithExpectedTime& plan : loop.next) {
    EXPECT_GT(plan.expected_s, simulated_step_s(candidates.plans[index_of(plan)],
                                                cost::built_in_training_conditions()));
  }
}

TEST(ClosedLoop, ConstantsThatMoveAgainstMostRunsAreNamed) {
  const plan::Job job = loop_job();
  const MeasuredRunTable candidates = all_candidates(job);
  // Runs without messages of tensor parallelism are slower than predicted, one with them is faster.
  std::string rows;
  for (const std::size_t i : {0U, 0U, 9U, 9U}) {
    rows += row_of(
        i, "ok", 1.1 * simulated_step_s(candidates.plans[i], cost::built_in_training_conditions()));
  }
  rows += row_of(8, "ok",
                 0.6 * simulated_step_s(candidates.plans[8], cost::built_in_training_conditions()));
  const MeasuredRunsVerdict loop = answer(job, rows, candidates);
  ASSERT_FALSE(loop.contrary.empty());
  for (const LearnedConstant& one : loop.contrary) {
    const bool rate = one.before.key.ends_with("_rate");
    EXPECT_TRUE(rate ? one.now.value > one.before.value : one.now.value < one.before.value)
        << one.before.key;
  }
}

TEST(ClosedLoop, RowsOfWhichNoneIsARunOfTheJobAreRefused) {
  const plan::Job job = loop_job();
  const MeasuredRunTable candidates = all_candidates(job);
  const std::string wrong = row_of(0, "fine", 3);
  try {
    answer(job, wrong + wrong + wrong + wrong, candidates);
    ADD_FAILURE() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_THAT(error.what(),
                testing::StartsWith("runs.csv: no row is a run of this job\nruns.csv:2: "
                                    "column outcome: 'fine' is not ok"));
    EXPECT_THAT(error.what(), testing::HasSubstr("\nruns.csv:5: "));
  }
}

TEST(ClosedLoop, ARowThatNamesTheFrameworkOfItsJobHasItsKernels) {
  plan::Job job = loop_job();
  job.kernels.attention = cluster::AttentionKernel::kFlash2;
  job.attention_stated = true;
  const auto kernel_of = [&](const std::string& said) {
    const MeasuredRunTable runs = read_measured_runs(
        parse_csv("id,micro_batch,tp,job\na,1,1,\"{" + said + "}\"\n", "runs.csv"), &job);
    EXPECT_THAT(runs.skipped, IsEmpty());
    return runs.plans.at(0).job.kernels.attention;
  };
  EXPECT_EQ(kernel_of(""), cluster::AttentionKernel::kFlash2);
  EXPECT_EQ(kernel_of("framework: megatron-lm"), cluster::AttentionKernel::kFlash2);
  EXPECT_EQ(kernel_of("kernels: {attention: unfused}"), cluster::AttentionKernel::kUnfused);
  EXPECT_NE(kernel_of("framework: megatron-core"), cluster::AttentionKernel::kUnfused);
}

}  // namespace
}  // namespace stepwright::learn
