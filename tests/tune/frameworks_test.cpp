#include "stepwright/tune/frameworks.h"

#include <gmock/gmock.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "small_jobs.h"
#include "stepwright/core/error.h"
#include "stepwright/plan/frameworks/defaults.h"
#include "stepwright/plan/frameworks/table.h"
#include "stepwright/plan/laws/legality.h"
#include "stepwright/simulate/prediction.h"
#include "stepwright/tune/tune_json.h"
#include "tests/plan/shown.h"

namespace stepwright::tune {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

plan::Job job_of(std::string_view framework) {
  plan::Job job = small_tune_job();
  job.framework.name = framework;
  job.kernels = plan::default_kernels(job.framework, job.cluster.device);
  return job;
}

std::vector<plan::TrainingFramework> all_frameworks() {
  std::vector<plan::TrainingFramework> all;
  for (const std::string_view name : plan::kFrameworkNames)
    all.push_back({.name = std::string(name)});
  return all;
}

TuneOptions few() { return {.threads = 1, .top = 5}; }

TEST(FrameworkSearch, ASpaceWithoutFrameworkIsTheUnion) {
  const plan::Job job = small_tune_job();
  const SearchSpaceDimensions space = search_space_dimensions(job);
  const auto run = [&](plan::FrameworkProperty ability, const plan::Plan& plan) {
    return std::ranges::any_of(plan::kFrameworkNames, [&](std::string_view name) {
      return plan::FrameworkSupport({.name = std::string(name), .version = ""})
          .supports_plan(ability, job, plan);
    });
  };
  plan::Plan plan;
  plan.parallel = {.tensor = 2, .pipeline = 2, .context = 2};
  plan.sequence_parallel = true;
  for (const schedule::PipelineScheduleKind kind : space.schedule) {
    plan.schedule.kind = kind;
    EXPECT_TRUE(run(plan::FrameworkProperty::kSchedule, plan));
  }
  for (const plan::ContextKind kind : space.context_kind) {
    plan.context_kind = kind;
    EXPECT_TRUE(run(plan::FrameworkProperty::kContextKind, plan));
  }
  for (const plan::GatheredInputPolicy input : space.tensor_input) {
    plan.tensor_input = input;
    EXPECT_TRUE(run(plan::FrameworkProperty::kTensorInput, plan));
  }
  for (const plan::ActivationRecomputation& recompute : space.recompute) {
    plan.recompute = recompute;
    EXPECT_TRUE(run(plan::FrameworkProperty::kRecompute, plan));
  }
  for (const plan::Sharding& sharding : space.sharding) {
    plan.sharding = sharding;
    EXPECT_TRUE(run(plan::FrameworkProperty::kSharding, plan)) << plan::sharding_letters(sharding);
  }
  EXPECT_EQ(space.sharding.size(), 14U);
}

TEST(FrameworkSearch, FindsOnlyWhatTheFrameworkRuns) {
  for (const std::string_view name : plan::kFrameworkNames) {
    SCOPED_TRACE(name);
    const TuneResult result = tune(job_of(name), few());
    std::int64_t refused = 0;
    bool framework = false;
    for (const PlanRefusalCount& refusal : result.rejected) {
      refused += refusal.count;
      framework = framework || refusal.rule == kUnsupportedByFrameworkRule;
    }
    EXPECT_EQ(result.space.total, result.space.legal + result.space.duplicates + refused);
    EXPECT_EQ(framework, name != "stepwright");
    for (const TunedPlan& tuned : result.plans) {
      EXPECT_THAT(plan::frameworks_supporting_plan(result.job, tuned.plan), Contains(name))
          << plan::shown(tuned.plan);
    }
  }
}

TEST(FrameworkSearch, OfTheJobsOwnSaysWhatTheAnswerSays) {
  for (const std::string_view name : {"megatron-core", "fsdp", "deepspeed"}) {
    const TuneResult result = tune(job_of(name), few());
    const TunedPlan& best = result.plans.front();
    const std::vector<plan::TrainingFramework> frameworks = all_frameworks();
    const std::vector<NearestFrameworkPlan> runs =
        nearest_framework_plans(result.job, best.plan, frameworks);
    const auto own = std::ranges::find(runs, name, &NearestFrameworkPlan::framework);
    ASSERT_NE(own, runs.end());
    EXPECT_EQ(own->plan, best.plan) << name;
    EXPECT_EQ(own->step_time_s, best.step_time_s) << name;
    EXPECT_EQ(own->fits, best.fits) << name;
  }
}

/// Returns the distinct plans of a space.
std::set<plan::Plan> plans_of(const plan::Job& job,
                              const std::function<bool(plan::Plan&)>& wanted) {
  const SearchSpaceDimensions space = search_space_dimensions(job);
  const LegalPlanCounter enumeration(job, space);
  std::set<plan::Plan> plans;
  const auto take = [&](const plan::Plan& plan) {
    plan::Plan usual = plan::canonical_plan(plan, job);
    if (wanted(usual)) plans.insert(usual);
  };
  for (const RankGridChoice& grid : enumeration.grids()) {
    for (const auto& [micro_batch, stages] : grid.stages->by_micro_batch) {
      plan::Plan plan = default_plan_of_rank_grid(job, grid.parallel, grid.order);
      plan.micro_batch = micro_batch;
      for (const PipelineStageChoice& stage : stages) {
        write_choice_into_plan(stage, plan);
        for (const DataParallelChoice& data : grid.data->choices) {
          write_choice_into_plan(data, plan);
          for (const ModelBlockChoice& block : grid.blocks) {
            if (!grid.framework_allows_choices(block, stage.joint, data.joint)) continue;
            plan::Plan whole = plan;
            write_choice_into_plan(block, whole);
            take(whole);
          }
        }
      }
    }
  }
  return plans;
}

TEST(FrameworkSearch, FindsAllThatTheFrameworkRuns) {
  for (const std::string_view name : plan::kFrameworkNames) {
    SCOPED_TRACE(name);
    plan::Job job = job_of(name);
    job.model.layers = 6;
    job.space.micro_batch = {2};
    job.space.context = {1, 2};
    job.space.sharding = {*plan::sharding_named_by_word("NNG"),
                          *plan::sharding_named_by_word("III"),
                          *plan::sharding_named_by_word("GGG")};
    job.space.recompute = {{plan::RecomputeKind::kFull, 1}, {plan::RecomputeKind::kEvery, 2}};
    job.space.overlap = search_space_dimensions(job).overlap;
    const SearchSpaceDimensions space = search_space_dimensions(job);
    const plan::FrameworkSupport law(job.framework);
    plan::Job free = job;
    free.framework = {};
    free.space.schedule = space.schedule;
    free.space.overlap = space.overlap;
    free.space.accumulate = space.accumulate;
    free.space.rank_order = space.rank_order;
    const auto runs = [&](plan::Plan& plan) {
      plan = law.with_framework_bucket_sizes(job, plan);
      return plan::choices_unsupported_by_framework(job.framework, job, plan).empty();
    };
    const std::set<plan::Plan> found = plans_of(job, [](const plan::Plan&) { return true; });
    EXPECT_EQ(found, plans_of(free, runs));
    EXPECT_FALSE(found.empty());
    EXPECT_EQ(LegalPlanCounter(job, space).legal(), std::ssize(found));
  }
}

TEST(FrameworkSearch, AFreeOverlapIsAllThatRunsBesideTheRest) {
  for (const std::string_view name : plan::kFrameworkNames) {
    SCOPED_TRACE(name);
    plan::Job job = job_of(name);
    job.model.layers = 6;
    job.space.micro_batch = {2};
    job.space.context = {1, 2};
    const plan::FrameworkSupport law(job.framework);
    const auto most = [&](plan::Plan& plan) {
      plan::Plan all = plan;
      all.overlap = plan::all_overlap_flags(true);
      all.overlap = plan::overlap_limited_to_listed_flags(
          all.overlap, law.supported_property_words(plan::FrameworkProperty::kOverlap, job, plan));
      EXPECT_EQ(plan::canonical_plan(all, job).overlap, plan.overlap) << plan::shown(plan);
      return true;
    };
    const auto found = plans_of(job, most);
    EXPECT_EQ(LegalPlanCounter(job, search_space_dimensions(job)).legal(), std::ssize(found));
  }
}

TEST(FrameworkSearch, AListOfWhatItDoesNotRunIsRefused) {
  plan::Job job = job_of("megatron-lm");
  job.space.schedule = {schedule::PipelineScheduleKind::kOneForwardOneBackward,
                        schedule::PipelineScheduleKind::kZeroBubbleH1};
  const TuneResult result = tune(job, few());
  const auto told = [](const PlanRefusalCount& refusal) {
    return refusal.rule == kUnsupportedByFrameworkRule &&
           refusal.reason == "megatron-lm runs schedule 1f1b, interleaved";
  };
  EXPECT_TRUE(std::ranges::any_of(result.rejected, told));
  job.space.schedule = {schedule::PipelineScheduleKind::kZeroBubbleH1};
  job.space.pipeline = {2};
  try {
    tune(job, few());
    ADD_FAILURE() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_THAT(error.what(), HasSubstr("megatron-lm runs schedule 1f1b, interleaved"));
    EXPECT_THAT(error.what(), HasSubstr("no framework ("));
  }
}

TEST(FrameworkSearch, ABatchThatItsRanksDoNotShareIsAdvisedUpon) {
  plan::Job job = job_of("fsdp");
  job.space.tensor = {1};
  job.sequences = 9;
  try {
    tune(job, few());
    ADD_FAILURE() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_THAT(
        error.what(),
        HasSubstr("changes with which plans are legal (and how many): batch.sequences 8 ("));
  }
}

TEST(FrameworkSearch, APredictionNotesWhatItDoesNotRun) {
  plan::Plan plan;
  plan.parallel = {.pipeline = 2, .data = 4};
  const auto notes = [&](std::string_view framework) {
    return simulate::predict_plan({job_of(framework), plan}).notes;
  };
  const auto note = HasSubstr("not run as it is: parallel pipeline: fsdp supports only tensor");
  EXPECT_THAT(notes("fsdp"), Contains(note));
  EXPECT_THAT(notes("stepwright"), Not(Contains(HasSubstr("not run as it is"))));
}

TEST(FrameworkSearch, TheAnswerSaysWhoStartsEachPlan) {
  const TuneResult result = tune(small_tune_job(), few());
  const plan::Plan& best = result.plans.front().plan;
  const std::vector<plan::TrainingFramework> frameworks = all_frameworks();
  const FrameworksRunningPlan started_by = [&](const plan::Plan& plan) {
    return std::vector<std::string>{plan == best ? "first" : "other"};
  };
  const nlohmann::ordered_json json =
      tune_json(result, simulate::predict_plan({result.job, best}),
                nearest_framework_plans(result.job, best, frameworks, 2), started_by);
  EXPECT_EQ(json["plans"][0]["runs_on"], nlohmann::ordered_json({"first"}));
  EXPECT_EQ(json["plans"][1]["runs_on"], nlohmann::ordered_json({"other"}));
  std::set<std::string> seen;
  for (const auto& start : json["starts"]) {
    if (start["changes"] == "") seen.insert(start["framework"]);
  }
  for (const auto& nearest : json["nearest"]) {
    for (const auto& name : nearest["frameworks"]) EXPECT_TRUE(seen.insert(name).second) << name;
    EXPECT_EQ(nearest["plan"].is_null(), nearest["changes"].is_null());
  }
  EXPECT_EQ(seen.size(), std::size(plan::kFrameworkNames));
}

// PyTorch's sums of gradients are a kernel of their own: DDP makes them in fp32, FSDP2 in bf16.
TEST(FrameworkSearch, BoundsHoldWhateverTypeGradientsAddUpIn) {
  for (const std::string_view name : {"accelerate", "fsdp", "torchtitan"}) {
    plan::Job job = job_of(name);
    job.space.sharding = {*plan::sharding_named_by_word("NNN"),
                          *plan::sharding_named_by_word("NGG"),
                          *plan::sharding_named_by_word("GGG")};
    job.space.micro_batch = {1};
    const TuneResult result = tune(job, few());
    ASSERT_FALSE(result.plans.empty()) << name;
    for (const TunedPlan& tuned : result.plans) {
      EXPECT_LE(tuned.lower_bound_s, tuned.step_time_s) << name;
    }
  }
}

TEST(LikelyStep, IsNoLongerThanThatOfTheBestPlan) {
  const plan::Job job = job_of("nemo");
  const TunedPlan best = tune(job, few()).plans.front();
  EXPECT_LE(step_seconds_likely_found_by_search(job, best.plan), best.price_s * (1 + 1e-9));
}

TEST(LikelyStep, TakesPlansWhoseGradientsHaveATypeThatTheSpaceLacks) {
  plan::Job job = job_of("nemo");
  plan::Plan plan = tune(job, few()).plans.front().plan;
  job.space.accumulate = {plan.accumulate};
  const double own_s = step_seconds_likely_found_by_search(job, plan);
  plan.accumulate = plan.accumulate == DType::kFp32 ? DType::kBf16 : DType::kFp32;
  EXPECT_DOUBLE_EQ(step_seconds_likely_found_by_search(job, plan), own_s);
}

}  // namespace
}  // namespace stepwright::tune
