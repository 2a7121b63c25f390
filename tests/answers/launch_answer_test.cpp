#include "stepwright/answers/launch_answer.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "stepwright/answers/tune_answer.h"
#include "stepwright/answers/upkeep.h"
#include "stepwright/core/error.h"
#include "stepwright/framework_files/launch_file.h"
#include "stepwright/framework_files/starters.h"
#include "stepwright/plan/frameworks/defaults.h"
#include "stepwright/plan/laws/legality.h"
#include "tests/tune/random_job.h"
#include "tests/tune/small_jobs.h"

namespace stepwright::answers {
namespace {

using testing::Contains;
using testing::HasSubstr;

/// Reads the job again with another framework; the job has no framework-specific parts.
ReadJobForFramework job_for(const plan::Job& job) {
  return [&job](const std::string& name) {
    plan::Job there = job;
    for (const framework_files::RoundTripFramework& starter :
         framework_files::importable_and_exportable_frameworks()) {
      if (starter.framework_or_variant_name() == name) there.framework = starter.framework;
    }
    if (there.model.adapters) {
      there.model.adapters->joined = plan::framework_defaults(there.framework).joined_adapters;
    }
    return there;
  };
}

TuneAnswer answered(const plan::Job& job) {
  return answer_tune_command(
      job, {.name = "job.yaml", .options = {.threads = 1, .top = 4}, .job_for = job_for(job)});
}

TEST(LaunchablePlanAnswer, AnswersFirstWithAPlanThatAFrameworksFilesStart) {
  const plan::Job job = tune::small_tune_job();
  const TuneAnswer answer = answered(job);
  ASSERT_TRUE(answer.launch);
  const plan::PlannedJob first = answer.best_planned_job();
  EXPECT_TRUE(framework_files::export_plan(answer.launch->target, first, "").as_it_is);
  EXPECT_EQ(answer.export_command(),
            "stepwright export --to " + answer.launch->target + " --plan plan.yaml");
  const nlohmann::ordered_json json = tune_answer_json(answer);
  EXPECT_EQ(json["plans"][0]["framework"], answer.launch->framework);
  EXPECT_EQ(json["plans"][0]["export"], answer.export_command());
  EXPECT_THAT(json["plans"][0]["runs_on"], Contains(answer.launch->framework));
}

TEST(LaunchablePlanAnswer, NoOtherFrameworkStartsAFasterPlan) {
  const plan::Job job = tune::small_tune_job();
  const TuneAnswer answer = answered(job);
  ASSERT_TRUE(answer.launch);
  const double first_s = answer.result.plans.front().step_time_s;
  for (const framework_files::RoundTripFramework& starter :
       framework_files::importable_and_exportable_frameworks()) {
    plan::Job there = job_for(job)(std::string(starter.framework_or_variant_name()));
    there.kernels = plan::configured_kernels(there);
    const tune::FasterPlans faster =
        tune::find_faster_plans(there, (1 - 2 * kEqualStepTolerance) * first_s, {.threads = 1});
    for (const tune::TunedPlan& tuned : faster.plans) {
      EXPECT_NE(framework_files::plan_not_run_unchanged_reason(starter, {faster.job, tuned.plan}),
                "")
          << starter.framework_or_variant_name();
    }
  }
}

TEST(LaunchablePlanAnswer, OfAFrameworkThatIsNamedIsItsOwn) {
  plan::Job job = job_for(tune::small_tune_job())("deepspeed");
  const TuneAnswer answer = answered(job);
  ASSERT_TRUE(answer.launch);
  EXPECT_EQ(answer.launch->target, "deepspeed");
  EXPECT_FALSE(answer.unbound);
  job = job_for(tune::small_tune_job())("llama-factory");
  const TuneAnswer variant = answered(job);
  ASSERT_TRUE(variant.launch);
  EXPECT_EQ(variant.launch->target, "llama-factory");
}

TEST(LaunchablePlanAnswer, WhereNoFrameworkTrainsTheModelSaysWhyForEach) {
  plan::Job job = tune::small_tune_job();
  job.space.pipeline = {2};
  job.space.schedule = {schedule::PipelineScheduleKind::kVHalf};
  const TuneAnswer answer = answered(job);
  EXPECT_FALSE(answer.launch);
  EXPECT_EQ(answer.export_command(), "");
  EXPECT_EQ(answer.refusals.size(), framework_files::importable_and_exportable_frameworks().size());
  EXPECT_THAT(answer.refusals,
              Contains(HasSubstr("megatron-core runs schedule 1f1b, interleaved")));
  const nlohmann::ordered_json json = tune_answer_json(answer);
  EXPECT_TRUE(json["plans"][0]["framework"].is_null() && json["plans"][0]["export"].is_null());
}

TEST(LaunchablePlanAnswer, NoFileIsNamedToWhichAPersonMustAddCode) {
  plan::Job job = tune::small_tune_job();
  job.model.position = model::PositionEncoding::kAlibi;
  job.model.gated = false;
  const TuneAnswer answer = answered(job);
  for (const framework_files::RoundTripFramework& starter :
       framework_files::importable_and_exportable_frameworks()) {
    if (starter.framework_or_variant_name() != "torchtitan" &&
        starter.framework_or_variant_name() != "torchtune")
      continue;
    EXPECT_NE(framework_files::plan_not_run_unchanged_reason(starter, answer.best_planned_job()),
              "")
        << starter.framework_or_variant_name();
  }
  const std::vector<std::string> notes =
      framework_files::export_plan("torchtitan", answer.best_planned_job(), "", true).notes;
  EXPECT_THAT(notes, Contains(HasSubstr("torchtitan has no flavor")));
}

TEST(LaunchablePlanAnswer, TheFirstPlanOfRandomJobsIsStartedAndFits) {
  int started = 0;
  for (const std::uint64_t seed : tune::random_seeds(12)) {
    SCOPED_TRACE(seed);
    plan::Job job = tune::random_job(seed);
    job.framework = {};
    if (seed % 3 == 0) {
      job.model.adapters = model::LoraAdapters{.rank = 16};
      job.model.adapters->targets.set(model::place_of(model::LoraTargetProduct::kQuery));
    }
    try {
      const TuneAnswer answer = answered(job);
      EXPECT_TRUE(answer.launch || !answer.refusals.empty());
      if (!answer.launch) continue;
      ++started;
      EXPECT_TRUE(answer.result.plans.front().fits);
      EXPECT_TRUE(framework_files::export_plan(answer.launch->target, answer.best_planned_job(), "")
                      .as_it_is);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInput) << error.what();
    }
  }
  EXPECT_GT(started, 3);
}

TEST(Upkeep, CountsKindsOfParallelismThenMovesFromTheRecipe) {
  plan::Job job = tune::small_tune_job();
  job.framework = {.name = "megatron-core"};
  plan::Plan plain;
  plain.parallel.data = 8;
  plain.sharding = *plan::sharding_named_by_word("NNG");
  plan::Plan cut = plain;
  cut.parallel = {.tensor = 2, .data = 4};
  cut.sequence_parallel = true;
  plan::Plan moved = cut;
  moved.sequence_parallel = false;
  plan::Plan recomputed = cut;
  recomputed.recompute.kind = plan::RecomputeKind::kFull;
  EXPECT_LT(complexity_of_running_plan(job, plain), complexity_of_running_plan(job, cut));
  EXPECT_LT(complexity_of_running_plan(job, cut), complexity_of_running_plan(job, moved));
  EXPECT_LT(complexity_of_running_plan(job, cut), complexity_of_running_plan(job, recomputed));
  EXPECT_LT(complexity_of_running_plan(job, recomputed), complexity_of_running_plan(job, moved));
}

TEST(Upkeep, OrdersPlansThatAreLevelAndNoOthers) {
  plan::Job job = tune::small_tune_job();
  const auto tuned = [](std::int64_t tensor, double step_time_s) {
    tune::TunedPlan one;
    one.plan.parallel = {.tensor = tensor, .data = 8 / tensor};
    one.step_time_s = step_time_s;
    return one;
  };
  std::vector<tune::TunedPlan> plans = {tuned(2, 1.0), tuned(4, 1.002), tuned(1, 1.009),
                                        tuned(1, 1.02)};
  EXPECT_EQ(move_simplest_of_fastest_plans_first(job, plans), 3U);
  EXPECT_EQ(plans[0].step_time_s, 1.009);
  EXPECT_EQ(plans[1].step_time_s, 1.0);
  EXPECT_EQ(plans[3].step_time_s, 1.02);
}

}  // namespace
}  // namespace stepwright::answers
