// Better plans proposed for a job are plans that the trainer on top of its framework can run.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "stepwright/check/check.h"
#include "stepwright/framework_files/launch_file.h"
#include "stepwright/plan/frameworks/defaults.h"
#include "stepwright/plan/frameworks/law.h"
#include "stepwright/plan/laws/legality.h"
#include "stepwright/tune/against.h"
#include "stepwright/tune/nearest_fit.h"
#include "tests/plan/shown.h"
#include "tests/tune/random_job.h"

namespace stepwright::check {
namespace {

using launch_scripts::SourceFile;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

JobCheckResult checked(const std::vector<SourceFile>& files,
                       std::optional<std::int64_t> devices = {}) {
  framework_files::UserFacts given;
  given.cluster = "dgx-h100";
  given.devices = devices;
  return check_job(framework_files::import_plan_files("", files, given, true));
}

/// Returns the fields that the changes set.
std::vector<std::string> proposals(const JobCheckResult& check) {
  std::vector<std::string> all;
  if (!check.better) return all;
  for (const tune::PlanChange& change : check.better->changes) {
    all.insert(all.end(), change.set.begin(), change.set.end());
  }
  return all;
}

/// Expects that the trainer runs the plan after every change.
void expect_run(const JobCheckResult& check) {
  const plan::PlannedJob& planned = check.prediction->planned;
  const plan::FrameworkSupport law(planned.job.framework);
  ASSERT_TRUE(check.better);
  for (const tune::PlanChange& change : check.better->changes) {
    EXPECT_TRUE(law.supports_plan(planned.job, change.reached.plan))
        << plan::shown(change.reached.plan);
  }
}

TEST(Trainers, DeepSpeedSplitsNoTensorsBesideItsThirdStage) {
  const JobCheckResult check = checked(
      {{"run.sh",
        "NPROC_PER_NODE=8 swift pt --model Qwen/Qwen3-8B --train_type full --torch_dtype bfloat16 "
        "--max_length 8192 --packing true --attn_impl flash_attn --per_device_train_batch_size 1 "
        "--gradient_accumulation_steps 8 --gradient_checkpointing true --deepspeed zero2 "
        "--dataset d\n"}});
  const plan::TrainingFramework& framework = check.imported.planned.job.framework;
  EXPECT_EQ(framework.name, "deepspeed");
  EXPECT_EQ(framework.variant, "ms-swift");
  EXPECT_FALSE(check.fits());
  expect_run(check);
  for (const tune::PlanChange& change : check.better->changes) {
    const plan::Plan& plan = change.reached.plan;
    EXPECT_FALSE(plan.parallel.tensor > 1 && plan::sharding_letters(plan.sharding) == "GGG");
  }
}

TEST(Trainers, VerlOnFsdpSplitsNoTensorsAndKeepsNoGradientsWhole) {
  const JobCheckResult check = checked(
      {{"run.sh",
        "python3 -m verl.trainer.main_ppo data.train_batch_size=256 data.max_prompt_length=4096 "
        "data.max_response_length=4096 actor_rollout_ref.model.path=Qwen/Qwen2.5-7B "
        "actor_rollout_ref.actor.ppo_mini_batch_size=64 "
        "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=4 trainer.nnodes=1 "
        "trainer.n_gpus_per_node=8\n"}});
  EXPECT_EQ(check.imported.planned.job.framework.variant, "verl");
  expect_run(check);
  EXPECT_THAT(proposals(check), Each(Not(HasSubstr("parallel.tensor"))));
  EXPECT_THAT(proposals(check), Not(Contains("sharding.states=GNG")));
}

TEST(Trainers, AxolotlOnDeepSpeedSplitsNoExperts) {
  const JobCheckResult check = checked(
      {{"c.yml",
        "base_model: mistralai/Mixtral-8x7B-v0.1\nload_in_4bit: true\nadapter: qlora\nlora_r: 16\n"
        "lora_alpha: 32\nlora_target_modules: [q_proj, v_proj]\nsequence_len: 4096\n"
        "sample_packing: true\npad_to_sequence_len: true\nmicro_batch_size: 8\n"
        "gradient_accumulation_steps: 1\noptimizer: adamw_bnb_8bit\nbf16: true\n"
        "gradient_checkpointing: true\nflash_attention: true\ndeepspeed: zero2.json\n"
        "datasets: [{path: d, type: alpaca}]\n"},
       {"zero2.json",
        R"({"bf16": {"enabled": "auto"}, "zero_optimization": {"stage": 2},
            "train_batch_size": "auto", "train_micro_batch_size_per_gpu": "auto",
            "gradient_accumulation_steps": "auto"})"}},
      2);
  EXPECT_EQ(check.imported.planned.job.framework.name, "deepspeed");
  EXPECT_EQ(check.imported.planned.job.framework.variant, "axolotl");
  expect_run(check);
  EXPECT_THAT(proposals(check), Each(Not(HasSubstr("parallel."))));
}

TEST(Trainers, TheFirstFsdpSplitsNeitherTensorsNorSequences) {
  const std::string training =
      "base_model: Qwen/Qwen3-8B\nmicro_batch_size: 1\nsequence_len: 65536\nbf16: true\n"
      "gradient_accumulation_steps: 4\noptimizer: adamw_torch\ngradient_checkpointing: true\n"
      "flash_attention: true\ndatasets: [{path: d, type: alpaca}]\n"
      "fsdp_config: {reshard_after_forward: true, auto_wrap_policy: TRANSFORMER_BASED_WRAP}\n";
  for (const char* version : {"", "fsdp_version: 1\n"}) {
    const JobCheckResult check = checked({{"c.yml", training + version}});
    EXPECT_THAT(proposals(check), Each(Not(HasSubstr("parallel.")))) << version;
  }
  const JobCheckResult second = checked({{"c.yml", training + "fsdp_version: 2\n"}});
  EXPECT_THAT(second.imported.planned.job.space.context, IsEmpty());
}

TEST(Trainers, AProposalGoesNoFurtherThanTheFileDoesAlready) {
  // Ulysses, which LLaMA-Factory's table has not, stays; nothing else that it has not comes.
  const JobCheckResult check =
      checked({{"c.yaml",
                "model: Qwen/Qwen3-0.6B\ntrain_dataset: data.yaml\n"
                "output_dir: out\nmicro_batch_size: 1\nglobal_batch_size: 64\n"
                "cutoff_len: 2048\nbf16: true\ndist_config:\n  name: fsdp2\n"
                "  dcp_path: null\n  cp_mode: ulysses\n  cp_size: 2\n"}});
  EXPECT_EQ(check.starts(), JobStartVerdict::kYes);
  EXPECT_THAT(proposals(check), Each(Not(HasSubstr("parallel.tensor"))));
}

/// All frameworks with their variants.
std::vector<plan::TrainingFramework> all_trainers() {
  std::vector<plan::TrainingFramework> all;
  for (const std::string_view name : plan::kFrameworkNames) {
    for (const std::string_view variant : plan::framework_variant_names(name)) {
      all.push_back({.name = std::string(name), .version = "", .variant = std::string(variant)});
    }
  }
  return all;
}

/// Returns a plan of a job that a trainer runs, as a starting point.
std::optional<plan::Plan> first_plan(const plan::Job& job) {
  plan::Plan plan;
  plan.parallel.data = job.cluster.devices();
  plan.recompute.kind = plan::RecomputeKind::kFull;
  plan.sharding = plan::sharding_named_by_word("GGG").value();
  plan::Job whole = job;
  whole.sequences = std::max(job.sequences, plan.parallel.data);
  return plan::nearest_runnable_plan(job.framework, whole, plan);
}

TEST(Trainers, EveryProposalIsOneThatTheTrainerRuns) {
  int proposed = 0;
  std::uint64_t seed = 0;
  for (const plan::TrainingFramework& framework : all_trainers()) {
    SCOPED_TRACE(framework.name + " " + framework.variant);
    const plan::FrameworkSupport law(framework);
    for (int tried = 0; tried < 3; ++tried) {
      plan::Job job = tune::random_job(seed++);
      job.framework = framework;
      job.kernels = plan::default_kernels(framework, job.cluster.device);
      job.space = {};
      job.use_all = true;
      const std::optional<plan::Plan> own = first_plan(job);
      if (!own || plan::find_plan_rejection(job, *own)) continue;
      const auto result = tune::search_best_plans_for_job_of({job, *own}, {.threads = 1, .top = 1});
      if (!result) continue;
      const tune::UserPlanComparison way = tune::compare_user_plan(*result, *own, {.threads = 1});
      for (const tune::PlanChange& change : way.changes) {
        EXPECT_TRUE(law.supports_plan(result->job, change.reached.plan))
            << plan::shown(change.reached.plan);
        ++proposed;
      }
    }
  }
  EXPECT_GT(proposed, 10);
}

}  // namespace
}  // namespace stepwright::check
