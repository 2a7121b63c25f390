#include "stepwright/tune/tune.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <variant>

#include "small_jobs.h"
#include "stepwright/core/error.h"
#include "stepwright/memory/memory.h"
#include "stepwright/plan/laws/legality.h"
#include "stepwright/schedule/kinds.h"
#include "stepwright/simulate/prediction.h"
#include "stepwright/tune/tune_json.h"

namespace stepwright::tune {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TuneOptions quick() { return {.threads = 1, .top = 5}; }

std::string failure(const plan::Job& job) {
  try {
    tune(job, quick());
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    return error.what();
  }
  return {};
}

std::vector<std::string> started_by_none(const plan::Plan& /*plan*/) { return {}; }

nlohmann::ordered_json answer_of(const TuneResult& result) {
  const plan::Plan& plan = result.plans.front().plan;
  return tune_json(result, simulate::predict_plan({result.job, plan}), {}, started_by_none);
}

TEST(Tune, ReturnsTheFastestSimulatedPlansFirst) {
  const TuneResult result = tune(small_tune_job(), quick());
  ASSERT_EQ(result.plans.size(), 5U);
  EXPECT_TRUE(result.plans.front().tied);
  EXPECT_EQ(result.plans.front().lost, "");
  for (std::size_t i = 0; i < result.plans.size(); ++i) {
    const TunedPlan& plan = result.plans[i];
    EXPECT_FALSE(plan::find_plan_rejection(result.job, plan.plan));
    EXPECT_TRUE(plan.fits);
    EXPECT_NEAR(plan.breakdown.total(), plan.step_time_s, 1e-6 * plan.step_time_s);
    if (i == 0) continue;
    EXPECT_GE(plan.step_time_s, result.plans[i - 1].step_time_s);
    EXPECT_NE(plan.lost, "");
  }
}

TEST(Tune, CountsEveryPlanOnce) {
  const TuneResult result = tune(small_tune_job(), quick());
  std::int64_t refused = 0;
  for (const PlanRefusalCount& refusal : result.rejected) refused += refusal.count;
  EXPECT_EQ(result.space.total, result.space.legal + result.space.duplicates + refused);
  EXPECT_EQ(result.space.legal, result.space.priced + result.space.bounded);
  EXPECT_LE(result.space.fitting, result.space.priced);
}

TEST(Tune, TakesPassesOverTheVocabularyWhereStatesStayWhole) {
  plan::Job job = small_tune_job();
  job.space.pipeline = {2};
  job.space.schedule = {schedule::PipelineScheduleKind::kVocabularyOne,
                        schedule::PipelineScheduleKind::kVocabularyTwo};
  job.space.sharding = {plan::Sharding{},
                        plan::Sharding{.optimizer = plan::StateShardingScope::kGlobal}};
  const TuneResult result = tune(job, quick());
  for (const TunedPlan& plan : result.plans) {
    EXPECT_GT(schedule::traits_of(plan.plan.schedule.kind).barriers, 0);
    EXPECT_FALSE(plan::find_plan_rejection(result.job, plan.plan));
  }
}

TEST(Tune, GivesTheSameAnswerOnAnyNumberOfThreads) {
  const plan::Job job = small_tune_job();
  nlohmann::ordered_json one = answer_of(tune(job, quick()));
  TuneOptions more = quick();
  more.threads = 3;
  nlohmann::ordered_json three = answer_of(tune(job, more));
  one.erase("seconds");
  three.erase("seconds");
  EXPECT_EQ(one.dump(), three.dump());
}

TEST(Tune, FindsTheSameExhaustively) {
  plan::Job job = small_tune_job();
  job.space.context = {1};
  TuneOptions all = quick();
  all.exhaustive = true;
  const TuneResult bounded = tune(job, quick());
  const TuneResult exhaustive = tune(job, all);
  ASSERT_EQ(bounded.plans.size(), exhaustive.plans.size());
  for (std::size_t i = 0; i < bounded.plans.size(); ++i) {
    EXPECT_EQ(bounded.plans[i].plan, exhaustive.plans[i].plan);
  }
  EXPECT_EQ(exhaustive.space.bounded, 0);
}

TEST(Tune, BeatsTheRuleOfThumb) {
  const TuneResult result = tune(small_tune_job(), quick());
  ASSERT_TRUE(result.baseline);
  EXPECT_GE(result.speedup_over_baseline, 1.0);
  EXPECT_FALSE(plan::find_plan_rejection(result.job, result.baseline->plan));
}

TEST(Tune, ListsAFrontWhereNothingIsFasterAndSmaller) {
  const TuneResult result = tune(small_tune_job(), quick());
  ASSERT_GT(result.pareto.size(), 1U);
  EXPECT_EQ(result.pareto.front().plan, result.plans.front().plan);
  for (std::size_t i = 1; i < result.pareto.size(); ++i) {
    EXPECT_GE(result.pareto[i].step_time_s, result.pareto[i - 1].step_time_s);
    EXPECT_LT(result.pareto[i].peak_memory_bytes, result.pareto[i - 1].peak_memory_bytes);
    const simulate::PlanPrediction prediction =
        simulate::predict_plan({result.job, result.pareto[i].plan});
    EXPECT_EQ(result.pareto[i].peak_memory_bytes, prediction.memory.peak_bytes);
    EXPECT_EQ(result.pareto[i].step_time_s, prediction.simulation.step_time_s);
  }
}

TEST(Tune, SaysHowMuchTheSmallestPlanMisses) {
  plan::Job job = small_tune_job();
  job.cluster.device.memory_bytes = 0.2e9;
  const TuneResult result = tune(job, quick());
  ASSERT_EQ(result.plans.size(), 1U);
  EXPECT_FALSE(result.plans.front().fits);
  EXPECT_THAT(result.notes, ::testing::Contains(HasSubstr("No plan that the job allows fits")));
  const TunedPlan& smallest = result.plans.front();
  EXPECT_EQ(smallest.over_by_bytes, smallest.peak_memory_bytes - memory::usable_memory_bytes(job));
  const nlohmann::ordered_json json = tuned_plan_json(result, smallest, started_by_none);
  EXPECT_EQ(json["over_by_bytes"], static_cast<std::int64_t>(smallest.over_by_bytes));
  EXPECT_EQ(json["largest_kind"], "optimizer");
}

/// Returns a small job on devices in which its smallest plan fits with a given probability.
plan::Job job_that_fits_with(double probability) {
  plan::Job job = small_tune_job();
  job.cluster.device.memory_bytes = 0.2e9;
  const double least = tune(job, quick()).plans.front().peak_memory_bytes;
  // The reserve of the framework is a share of so small a device.
  double bytes = least;
  for (int i = 0; i < 40; ++i) {
    job.cluster.device.memory_bytes = bytes;
    const double p_fits = tune(job, quick()).plans.front().p_fits;
    if (std::abs(p_fits - probability) < 0.03) break;
    bytes *= p_fits < probability ? 1.02 : 0.99;
  }
  return job;
}

TEST(Tune, AnswersWithTightPlansWhereNoneFits) {
  const plan::Job job = job_that_fits_with(0.8);
  const TuneResult result = tune(job, quick());
  ASSERT_FALSE(result.plans.empty());
  double last_s = 0;
  for (const TunedPlan& tuned : result.plans) {
    EXPECT_FALSE(tuned.fits);
    EXPECT_EQ(tuned.verdict, memory::MemoryFitVerdict::kTight);
    EXPECT_GE(tuned.p_fits, 0.75);
    EXPECT_LT(tuned.p_fits, 0.9);
    EXPECT_GT(tuned.over_by_bytes, 0);
    EXPECT_GE(tuned.step_time_s, last_s);
    last_s = tuned.step_time_s;
  }
  EXPECT_EQ(tuned_plan_json(result, result.plans.front(), started_by_none)["verdict"], "tight");
}

TEST(Tune, AnswersWithTheFastestTightPlan) {
  const plan::Job job = job_that_fits_with(0.8);
  TuneOptions every = quick();
  every.exhaustive = true;
  plan::Job asked_for_less = job;
  asked_for_less.objective.memory_confidence = 0.75;
  EXPECT_EQ(tune(job, every).plans.front().plan, tune(asked_for_less, every).plans.front().plan);
}

TEST(Tune, HasNoTightPlansBesideAStatedReserve) {
  plan::Job job = job_that_fits_with(0.8);
  job.objective.memory_reserve = 0.5;
  const TuneResult result = tune(job, quick());
  ASSERT_EQ(result.plans.size(), 1U);
  EXPECT_EQ(result.plans.front().verdict, memory::MemoryFitVerdict::kDoesNotFit);
}

TEST(Tune, SaysWhatARefusingRuleDemands) {
  const nlohmann::ordered_json json = answer_of(tune(small_tune_job(), quick()));
  ASSERT_FALSE(json["rejected"].empty());
  for (const nlohmann::ordered_json& refusal : json["rejected"]) {
    EXPECT_NE(refusal["rule"], refusal["reason"]);
    EXPECT_NE(refusal["reason"], "");
  }
}

TEST(Tune, KeepsAMemoryLimit) {
  plan::Job job = small_tune_job();
  job.objective.kind = plan::TunerObjectiveKind::kThroughput;
  job.objective.memory_limit_bytes = 0.9 * tune(job, quick()).plans.front().peak_memory_bytes;
  for (const TunedPlan& plan : tune(job, quick()).plans) {
    EXPECT_LE(plan.peak_memory_bytes, job.objective.memory_limit_bytes);
  }
}

TEST(Tune, SaysWhichListEmptiesTheSpace) {
  plan::Job job = small_tune_job();
  job.space.tensor = {3};
  EXPECT_THAT(failure(job), AllOf(HasSubstr("; world-size: the product of tensor 3"),
                                  HasSubstr("tensor free (")));
  job.space.tensor = {0};
  EXPECT_THAT(failure(job), HasSubstr("search.tensor lists 0"));
}

TEST(Tune, SaysWhichRuleOfTheJobEmptiesTheSpace) {
  plan::Job job = small_tune_job();
  job.precision = DType::kMxfp8;
  EXPECT_THAT(failure(job),
              AllOf(HasSubstr("; precision: toy has no rate for mxfp8; nearest legal: precision "),
                    Not(HasSubstr("world-size")), Not(HasSubstr("free"))));
  job.precision = DType::kBf16;
  job.model.position = model::PositionEncoding::kLearned;
  job.model.positions = 1024;
  EXPECT_THAT(failure(job),
              AllOf(HasSubstr("length 2048 is beyond the 1024 learned positions of small"),
                    HasSubstr("nearest legal: batch.length 1024"), Not(HasSubstr("free"))));
}

TEST(Tune, SaysWhatEmptiesTheSpaceBesidesARuleOfTheJob) {
  plan::Job job = small_tune_job();
  job.precision = DType::kMxfp8;
  job.model.position = model::PositionEncoding::kLearned;
  job.model.positions = 1024;
  job.space.tensor = {3};
  EXPECT_THAT(failure(job),
              AllOf(HasSubstr("; length-within-positions: "), HasSubstr("; and precision: "),
                    HasSubstr("; and world-size: "),
                    HasSubstr("changes with which plans are legal (and how many): tensor free (")));
}

TEST(Tune, NamesWhatOfTheHostEmptiesTheSpace) {
  plan::Job job = small_tune_job();
  job.cluster.device.host_link_bytes_per_s = 0;
  job.space.offload.activations = {plan::OffloadModuleSet{plan::OffloadModule::kCoreAttention}};
  EXPECT_THAT(failure(job), AllOf(HasSubstr("does not state cluster.device.host_link"),
                                  HasSubstr("nearest legal: offload.activations []"),
                                  HasSubstr("offload.activations free (")));
  job.space.offload.activations = {plan::OffloadModuleSet{plan::OffloadModule::kMoeActivation}};
  EXPECT_THAT(failure(job), HasSubstr("has no moe_act"));
  job = small_tune_job();
  job.space.offload.parameters = {true};
  job.space.sharding = {*plan::sharding_named_by_word("NNG")};
  EXPECT_THAT(failure(job), HasSubstr("offload.parameters with NNG and 0% of the optimizer"));
}

TEST(Tune, NamesTheStatesThatEmptyTheSpaceOfASchedule) {
  plan::Job job = small_tune_job();
  job.space.pipeline = {2};
  job.space.schedule = {schedule::PipelineScheduleKind::kVocabularyOne};
  job.space.sharding = {*plan::sharding_named_by_word("NNG"), *plan::sharding_named_by_word("GGG")};
  EXPECT_THAT(failure(job),
              AllOf(HasSubstr("vocab-1 with sharded parameters"), HasSubstr("schedule free (")));
}

TEST(Tune, NamesTheNearestBatchThatRanksCanShare) {
  plan::Job job = small_tune_job();
  job.sequences = 4;
  job.space.data = {8};
  EXPECT_THAT(
      failure(job),
      AllOf(HasSubstr("; batch-per-data: the batch of 4 sequences cannot be "
                      "shared by 8 data-parallel replicas"),
            HasSubstr("changes with which plans are legal (and how many): batch.sequences 8 ("),
            HasSubstr("or data free (")));
  job.space = {};
  job.space.tensor = job.space.pipeline = job.space.context = {1};
  job.sequences = 13;
  EXPECT_THAT(failure(job), HasSubstr("batch.sequences 16 ("));
  job.sequences = 16;
  EXPECT_GT(tune(job, quick()).space.legal, 0);
}

TEST(Tune, FindsTheSmallestClusterThatMeetsATarget) {
  plan::Job job = small_tune_job();
  job.cluster.nodes = 4;
  job.cluster.levels.back().size = 16;
  const double on_two = [&] {
    plan::Job two = job;
    two.cluster.nodes = 2;
    return tune(two, quick()).plans.front().step_time_s;
  }();
  job.objective = {.kind = plan::TunerObjectiveKind::kSmallestCluster,
                   .target_step_time_s = on_two * 1.001};
  const TuneResult result = tune(job, quick());
  EXPECT_TRUE(result.target_met);
  EXPECT_LE(result.job.cluster.nodes, 2);
  job.objective.target_step_time_s = on_two / 1000;
  const TuneResult missed = tune(job, quick());
  EXPECT_FALSE(missed.target_met);
  EXPECT_EQ(missed.job.cluster.nodes, 4);
}

TEST(Tune, ASpaceWithoutALegalPlanIsAnOutcomeWithAReason) {
  plan::Job job = small_tune_job();
  EXPECT_TRUE(std::holds_alternative<TuneResult>(try_tune(job, quick())));
  job.space.tensor = {3};
  const TuneOutcome outcome = try_tune(job, quick());
  ASSERT_TRUE(std::holds_alternative<EmptySearchSpaceReason>(outcome));
  EXPECT_THAT(std::get<EmptySearchSpaceReason>(outcome).reason,
              HasSubstr("the search space is empty"));
  EXPECT_EQ(failure(job), std::get<EmptySearchSpaceReason>(outcome).reason);
}

TEST(Tune, WhereNoPartOfAClusterHasALegalPlanTheReasonIsThatOfAllDevices) {
  plan::Job job = small_tune_job();
  job.cluster.nodes = 5;
  job.cluster.levels.back().size = 20;
  job.space.tensor = {3};
  const std::string reason = failure(job);
  job.use_all = true;
  EXPECT_EQ(reason, failure(job));
}

TEST(Tune, TheSmallestClusterIsLookedForWhereFewerNodesHaveNoLegalPlan) {
  plan::Job job = small_tune_job();
  job.space.pipeline = {8};  // one node has four devices
  job.objective = {.kind = plan::TunerObjectiveKind::kSmallestCluster, .target_step_time_s = 1e6};
  const TuneResult result = tune(job, quick());
  EXPECT_TRUE(result.target_met);
  EXPECT_EQ(result.job.cluster.nodes, 2);
  job.space.pipeline = {16};
  EXPECT_THAT(failure(job), HasSubstr("the search space is empty"));
}

TEST(TuneJson, HasTheKeysOfItsContract) {
  const nlohmann::ordered_json json = answer_of(tune(small_tune_job(), quick()));
  for (const char* key : {"plans", "optimality_gap", "space", "rejected", "baseline", "seconds",
                          "pareto", "notes", "speedup_over_baseline"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  for (const char* key :
       {"plan", "step_time_s", "price_s", "lower_bound_s", "peak_memory_bytes", "tied"}) {
    EXPECT_TRUE(json["plans"][0].contains(key)) << key;
  }
}

}  // namespace
}  // namespace stepwright::tune
