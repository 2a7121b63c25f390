#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "stepwright/cluster/catalog.h"
#include "stepwright/core/error.h"
#include "stepwright/cost/cost_model.h"
#include "stepwright/framework_files/launch_file.h"
#include "stepwright/framework_files/starters.h"
#include "stepwright/framework_files/target.h"
#include "stepwright/model/catalog.h"
#include "stepwright/plan/choices/changes.h"
#include "stepwright/plan/files.h"
#include "stepwright/plan/frameworks/defaults.h"
#include "stepwright/plan/frameworks/law.h"
#include "stepwright/plan/frameworks/runnable_attention.h"
#include "stepwright/plan/laws/legality.h"
#include "stepwright/simulate/price/pricer.h"
#include "stepwright/tune/frameworks.h"
#include "stepwright/tune/tune.h"
#include "tests/plan/shown.h"
#include "tests/tune/random_job.h"

// Plans that a search lists for a framework can be started by the framework's files.
// STEPWRIGHT_RANDOM_JOBS sets a larger number of jobs.

namespace stepwright::framework_files {
namespace {

/// Returns the targets that can be written and read, for jobs with next-token prediction.
std::vector<LaunchTarget> targets() {
  std::vector<LaunchTarget> both;
  for (const LaunchTarget& target : launch_targets()) {
    if (target.read == nullptr || target.write == nullptr) continue;
    if (std::ranges::count(target.data->methods, plan::TrainingMethodKind::kPretrain) > 0) {
      both.push_back(target);
    }
  }
  return both;
}

/// Returns the four best plans of a job; nullopt: no plan is legal or fits.
std::optional<tune::TuneResult> answer(const plan::Job& job) {
  try {
    tune::TuneResult result = tune::tune(job, {.threads = 1, .top = 4});
    if (!result.plans.front().fits) return std::nullopt;
    return result;
  } catch (const Error& error) {
    EXPECT_NE(error.kind(), ErrorKind::kRuntime) << error.what();
    return std::nullopt;
  }
}

/// Expects that the plan in a target's file is read back the same, at the same price.
void expect_alike(const LaunchTarget& target, plan::PlannedJob planned) {
  SCOPED_TRACE(fmt::format("{} {} on {} x {}: {}", target.word, planned.job.model_name,
                           planned.job.cluster.nodes, planned.job.cluster.name,
                           plan::shown(planned.plan)));
  LaunchFile file;
  ASSERT_NO_THROW(file = export_plan(target.word, planned, "")) << [&] {
    try {
      export_plan(target.word, planned, "");
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  }();
  UserFacts given;
  given.known_cluster = planned.job.cluster;
  given.known_model = planned.job.model;
  given.batch = fmt::format("{}x{}", planned.job.sequences, planned.job.length);
  const launch_scripts::SourceFile source{std::string(target.word), file.text};
  plan::PlannedJob back;
  ASSERT_NO_THROW(back = import_plan_files(target.word, {&source, 1}, given).planned) << file.text;
  EXPECT_EQ(back.plan, planned.plan);
  EXPECT_EQ(back.plan, planned.plan);
  const auto price = [](const plan::PlannedJob& of) {
    const cost::CostModel cost(of.job);
    return simulate::PlanPricer(of.job, cost).price(of.plan);
  };
  // The plan with the settings of the file: its framework, kernels and form of Muon.
  back.job.documents = planned.job.documents;  // How long they are is of the data, in no file.
  plan::PlannedJob started = planned;
  started.job.framework = back.job.framework;
  started.job.kernels = file.started.job.kernels;
  started.job.muon = file.started.job.muon;
  const simulate::PlanPrice here = price(started);
  const simulate::PlanPrice there = price(back);
  EXPECT_NEAR(there.seconds, here.seconds, 1e-9 * here.seconds);
  EXPECT_NEAR(there.memory_bytes, here.memory_bytes, 1e-9 * here.memory_bytes);
}

/// True if the job itself needs something that its framework cannot run, which no plan changes.
bool asks_for_more(const plan::Job& job, const plan::Plan& plan) {
  return std::ranges::any_of(plan::choices_unsupported_by_framework(job.framework, job, plan),
                             [](const plan::UnsupportedChoice& what) {
                               return !plan::of_plan(what.ability) &&
                                      what.ability != plan::FrameworkProperty::kAttention;
                             });
}

TEST(ListedPlans, OfAFrameworkAreStartedByItsFiles) {
  std::map<std::string_view, int> listed;
  for (const std::uint64_t seed : tune::random_seeds(40)) {
    for (const LaunchTarget& target : targets()) {
      plan::Job job = tune::random_job(seed);
      job.framework = framework_of_export_target(target.word, "");
      job.kernels = plan::default_kernels(job.framework, job.cluster.device);
      if (seed % 2 == 0) job.optimizer = plan::Optimizer::kAdam;  // Which all of them have.
      SCOPED_TRACE(seed);
      const auto result = answer(job);
      if (!result) continue;
      for (const tune::TunedPlan& tuned : result->plans) {
        const auto names = plan::frameworks_supporting_plan(result->job, tuned.plan);
        const bool runs = std::ranges::find(names, target.framework) != names.end();
        const bool asks = asks_for_more(result->job, tuned.plan);
        if (target.variant.empty()) {
          EXPECT_NE(runs, asks);
        }
        if (!runs || asks) continue;
        expect_alike(target, {result->job, tuned.plan});
        ++listed[target.word];
      }
    }
  }
  int all = 0;
  for (const auto& [word, plans] : listed) all += plans;
  EXPECT_GT(all, 50);
  for (const LaunchTarget& target : targets()) EXPECT_GT(listed[target.word], 0) << target.word;
}

/// True if a framework has any plan for a job on the devices that another plan uses.
bool has_plan(plan::Job job, plan::TrainingFramework framework) {
  job.use_all = true;
  job.framework = std::move(framework);
  return tune::LegalPlanCounter(job, tune::search_space_dimensions(job)).legal() > 0;
}

TEST(ListedPlans, OfAFreeSearchAreStartedAsTheyAreOrByTheNearest) {
  int listed = 0;
  for (const std::uint64_t seed : tune::random_seeds(40)) {
    plan::Job job = tune::random_job(seed);
    job.framework = {};
    // Features that a framework always has are no choice of a file.
    job.kernels.masters = plan::MasterWeights::kBeside;
    SCOPED_TRACE(seed);
    const auto result = answer(job);
    if (!result) continue;
    const plan::PlannedJob best{result->job, result->plans.front().plan};
    std::vector<plan::TrainingFramework> frameworks;
    for (const RoundTripFramework& starter : importable_and_exportable_frameworks())
      frameworks.push_back(starter.framework);
    const auto runs = tune::nearest_framework_plans(best.job, best.plan, frameworks);
    for (const LaunchTarget& target : targets()) {
      plan::PlannedJob there = best;
      there.job.framework = framework_of_export_target(target.word, "");
      plan::Job started = there.job;
      started.kernels = plan::configured_kernels(started);
      started.kernels.attention = plan::runnable_attention_kernel(started, best.plan);
      const auto nearest = plan::nearest_runnable_plan(started.framework, started, best.plan);
      const bool none =
          asks_for_more(there.job, best.plan) || !has_plan(best.job, there.job.framework);
      EXPECT_TRUE(none || nearest) << target.word << " " << plan::plan_yaml(best, true);
      if (!nearest) continue;
      there.plan = *nearest;
      expect_alike(target, there);
      ++listed;
      const LaunchFile file = export_plan(target.word, best, "", true);
      SCOPED_TRACE(target.word);
      EXPECT_EQ(file.started.plan, *nearest)
          << plan::differing_choices_text(file.started.plan, *nearest);
      if (!target.variant.empty()) continue;
      const auto run =
          std::ranges::find(runs, target.framework, &tune::NearestFrameworkPlan::framework);
      EXPECT_EQ(*run->plan, *nearest);
      EXPECT_EQ(file.started.job.kernels.attention, run->attention);
      const cost::CostModel cost(file.started.job);
      EXPECT_NEAR(simulate::PlanPricer(file.started.job, cost).price(file.started.plan).seconds,
                  run->price_s, 1e-9 * run->price_s);
    }
  }
  EXPECT_GT(listed, 10);
}

/// Returns a job that trains adapters, learns from preferences, or packs documents, which many
/// files cannot express.
plan::Job tuning_job(std::uint64_t seed) {
  plan::Job job = tune::random_job(seed);
  job.kernels.masters = plan::MasterWeights::kBeside;
  if (seed % 5 < 3) {  // A model that programs with a list of models have.
    job.model_name = "llama-3.2-1b";
    job.model = model::built_in_model(job.model_name).value();
  }
  if (seed % 2 == 0) {
    job.model.adapters = model::LoraAdapters{.rank = 16, .joined = seed % 4 == 0};
    for (const auto target : {model::LoraTargetProduct::kQuery, model::LoraTargetProduct::kValue}) {
      job.model.adapters->targets.set(model::place_of(target));
    }
  }
  if (seed % 3 == 0) job.method.kind = plan::TrainingMethodKind::kDpo;
  return job;
}

TEST(ListedPlans, OfAnyJobAreThoseThatExportWritesAndImportReads) {
  int listed = 0;
  for (const std::uint64_t seed : tune::random_seeds(20)) {
    plan::Job job = tuning_job(seed);
    SCOPED_TRACE(seed);
    const auto result = answer(job);
    if (!result) continue;
    const plan::PlannedJob best{result->job, result->plans.front().plan};
    const std::vector<std::string> names = framework_names_running_plan(best);
    for (const RoundTripFramework& starter : importable_and_exportable_frameworks()) {
      const bool lists =
          std::ranges::find(names, starter.framework_or_variant_name()) != names.end();
      bool writes = false;
      try {
        writes = export_plan(starter.target, best, "").as_it_is;
      } catch (const Error& error) {
        EXPECT_NE(error.kind(), ErrorKind::kRuntime) << error.what();
      }
      EXPECT_EQ(lists, writes) << starter.target;
      if (!lists) continue;
      ++listed;
      const auto target = std::ranges::find(launch_targets(), starter.target, &LaunchTarget::word);
      expect_alike(*target, best);
    }
  }
  EXPECT_GT(listed, 3);
}

plan::Job job_of(std::string_view model, std::int64_t nodes, std::int64_t sequences) {
  plan::Job job;
  job.model_name = model;
  job.model = model::built_in_model(model).value();
  job.cluster = cluster::built_in_cluster("dgx-h100", nodes).value();
  job.sequences = sequences;
  job.length = 4096;
  return job;
}

TEST(ListedPlans, EveryModelThatAFrameworkTrainsIsSaidByItsFiles) {
  for (const std::string_view name : model::built_in_model_names()) {
    for (const LaunchTarget& target : targets()) {
      plan::PlannedJob planned{job_of(name, 2, 64), {}};
      planned.job.framework = framework_of_export_target(target.word, "");
      planned.job.length = std::min<std::int64_t>(planned.job.length, 1024);
      planned.plan.parallel.data = 16;
      planned.plan.sharding = *plan::sharding_named_by_word("GGG");
      const auto plan =
          plan::nearest_runnable_plan(planned.job.framework, planned.job, planned.plan);
      if (!plan) continue;
      planned.plan = *plan;
      expect_alike(target, planned);
    }
  }
}

TEST(ListedPlans, InstancesOfTheOptimizerAreThoseOfExperts) {
  plan::PlannedJob planned{job_of("deepseek-v3", 256, 2048), {}};
  plan::Plan& plan = planned.plan;
  plan.parallel = {.tensor = 4, .pipeline = 4, .expert = 128, .data = 128};
  plan.sequence_parallel = true;
  plan.schedule = {.kind = schedule::PipelineScheduleKind::kInterleaved, .chunks = 8};
  plan.sharding = *plan::sharding_named_by_word("NNI");
  plan.sharding.group = 8;
  plan.sharding.expert_group = 1;
  ASSERT_FALSE(plan::find_plan_rejection(planned.job, plan));
  const auto names = plan::frameworks_supporting_plan(planned.job, plan);
  for (const char* name : {"megatron-core", "nemo"}) {
    EXPECT_EQ(std::ranges::count(names, name), 0);
    EXPECT_TRUE(plan::nearest_runnable_plan({.name = name}, planned.job, plan));
  }
  EXPECT_THROW(export_plan("megatron", planned, ""), Error);
  EXPECT_NO_THROW(export_plan("megatron", planned, "", true));
}

TEST(ListedPlans, OfManyDataRanksComeBackAtTheirPrice) {
  for (const LaunchTarget& target : targets()) {
    SCOPED_TRACE(target.word);
    plan::Job job = job_of("llama-3-8b", 8, 512);
    job.framework = framework_of_export_target(target.word, "");
    job.kernels = plan::default_kernels(job.framework, job.cluster.device);
    job.space.tensor = job.space.context = job.space.pipeline = {1};
    const auto result = answer(job);
    ASSERT_TRUE(result);
    for (const tune::TunedPlan& tuned : result->plans)
      expect_alike(target, {result->job, tuned.plan});
  }
}

TEST(ListedPlans, OfSearchesWhoseFilesWereRefused) {
  for (const auto& [model, nodes, word] :
       {std::tuple{"qwen3-30b-a3b", 4, "megatron"}, {"llama-3-70b", 4, "accelerate"}}) {
    SCOPED_TRACE(model);
    plan::Job job = job_of(model, nodes, 64);
    const auto target = *std::ranges::find(launch_targets(), word, &LaunchTarget::word);
    job.framework = {.name = std::string(target.framework)};
    job.kernels = plan::default_kernels(job.framework, job.cluster.device);
    job.space.context = {1};
    const auto result = answer(job);
    ASSERT_TRUE(result);
    for (const tune::TunedPlan& tuned : result->plans)
      expect_alike(target, {result->job, tuned.plan});
  }
}

}  // namespace
}  // namespace stepwright::framework_files
