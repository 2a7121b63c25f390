#include <gtest/gtest.h>

#include <tuple>

#include "stepwright/core/error.h"
#include "stepwright/plan/files.h"
#include "stepwright/plan/frameworks/law.h"
#include "tests/framework_files/imported.h"

namespace stepwright::framework_files {
namespace {

ImportedPlan openrlhf_plan(const std::string& text) {
  UserFacts given;
  given.cluster = "dgx-h100";
  return import_text("", "run.sh", text, given);
}

TEST(OpenRlhf, FineTuningIsReadWithItsDefaults) {
  const ImportedPlan made = openrlhf_plan(
      "read -r -d '' words <<EOF\nopenrlhf.cli.train_sft --train_batch_size 64 \\\n"
      "--pretrain meta-llama/Meta-Llama-3-8B --zero_stage 3 --zpg 8 --gradient_checkpointing \\\n"
      "--bf16 --flash_attn --adam_offload\nEOF\ndeepspeed --module $words\n");
  const plan::Plan& plan = made.planned.plan;
  EXPECT_EQ(made.target, "openrlhf");
  EXPECT_EQ(made.planned.job.sequences, 64);
  EXPECT_EQ(made.planned.job.length, 2048);
  EXPECT_EQ(plan.micro_batch, 8);
  EXPECT_EQ(plan.recompute.kind, plan::RecomputeKind::kFull);
  EXPECT_EQ(plan.offload.optimizer, 1);
  EXPECT_EQ(made.planned.job.kernels.attention, cluster::AttentionKernel::kFlash2);
}

TEST(OpenRlhf, TheActorsUpdateIsTheStepOfReinforcementLearning) {
  const ImportedPlan made = openrlhf_plan(
      "ray job submit --address=http://127.0.0.1:8265 -- python3 -m openrlhf.cli.train_ppo_ray \\\n"
      "  --actor_num_nodes 2 --actor_num_gpus_per_node 8 --pretrain meta-llama/Meta-Llama-3-8B \\\n"
      "  --micro_train_batch_size 4 --train_batch_size 128 --prompt_max_len 1024 \\\n"
      "  --generate_max_len 3072 --zero_stage 3 --ring_attn_size 2 --bf16 --vllm_num_engines 4\n");
  EXPECT_EQ(made.planned.job.cluster.devices(), 16);
  EXPECT_EQ(made.planned.plan.parallel.context, 2);
  EXPECT_EQ(made.planned.plan.parallel.data, 8);
  EXPECT_EQ(made.planned.job.length, 4096);
  EXPECT_THAT(made.report.not_read, lists("train_ppo_ray", SettingImpact::kYes));
  EXPECT_THAT(made.report.read, takes("vllm_num_engines", "job.objective.rollout"));
}

TEST(OpenRlhf, TheMethodIsTheObjective) {
  const std::string script =
      "python3 -m openrlhf.cli.train_ppo_ray --actor_num_nodes 2 --actor_num_gpus_per_node 8 "
      "--critic_num_nodes 2 --critic_num_gpus_per_node 8 --ref_num_nodes 2 "
      "--ref_num_gpus_per_node 8 --pretrain meta-llama/Meta-Llama-3-8B --train_batch_size 128 "
      "--micro_train_batch_size 4 --rollout_batch_size 256 --n_samples_per_prompt 2 "
      "--micro_rollout_batch_size 8 --vllm_num_engines 4 --vllm_tensor_parallel_size 2 "
      "--zero_stage 3 --bf16 ";
  const plan::TrainingMethod apart = openrlhf_plan(script + "\n").planned.job.method;
  EXPECT_EQ(apart.kind, plan::TrainingMethodKind::kPpo);
  EXPECT_EQ(apart.updates, 4);
  EXPECT_EQ(apart.forward_micro_batch, 8);
  EXPECT_EQ(apart.critic.devices, 16);
  EXPECT_EQ(apart.reference.devices, 16);
  EXPECT_EQ(apart.rollout->devices, 8);
  EXPECT_EQ(apart.rollout->tensor, 2);
  EXPECT_EQ(apart.staleness, 0);
  const plan::TrainingMethod shared =
      openrlhf_plan(script +
                    "--colocate_all_models --async_train --advantage_estimator "
                    "group_norm --init_kl_coef 0\n")
          .planned.job.method;
  EXPECT_EQ(shared.kind, plan::TrainingMethodKind::kGrpo);
  EXPECT_EQ(shared.reference.place, plan::SecondModelPlace::kNone);
  EXPECT_EQ(shared.critic.place, plan::SecondModelPlace::kNone);
  EXPECT_EQ(shared.rollout->devices, 8);
  EXPECT_EQ(shared.staleness, 1);
  const plan::PlannedJob pairs =
      openrlhf_plan(
          "deepspeed --num_gpus 8 --module openrlhf.cli.train_dpo --train_batch_size 64 "
          "--micro_train_batch_size 2 --pretrain meta-llama/Meta-Llama-3-8B --zero_stage 3 "
          "--bf16\n")
          .planned;
  EXPECT_EQ(pairs.job.method.kind, plan::TrainingMethodKind::kDpo);
  EXPECT_EQ(pairs.job.sequences, 128);
  EXPECT_EQ(pairs.plan.micro_batch, 4);
}

TEST(OpenRlhf, LaterNamesAreReportedAsTheFileHasThem) {
  const ImportedPlan made = openrlhf_plan(
      "python3 -m openrlhf.cli.train_ppo_ray --actor.num_nodes 1 --actor.num_gpus_per_node 8 \\\n"
      "  --actor.model_name_or_path meta-llama/Meta-Llama-3-8B --data.max_len 2048 \\\n"
      "  --train.batch_size 128 --train.dynamic_batch_enable --train.max_tokens_per_gpu 8192 \\\n"
      "  --ds.zero_stage 2 --ds.packing_samples --vllm.num_engines 8 --actor.adam.lr 5e-7\n");
  EXPECT_EQ(made.planned.job.length, 2048);
  EXPECT_EQ(made.planned.plan.micro_batch, 4);
  EXPECT_THAT(made.report.read, takes("train.batch_size", "job.batch.sequences"));
  EXPECT_THAT(made.report.not_read, lists("ds.packing_samples", SettingImpact::kYes));
  EXPECT_THAT(made.report.not_read, lists("actor.adam.lr", SettingImpact::kNo));
}

TEST(OpenRlhf, WhatTheScriptLeavesOpenIsAskedFor) {
  EXPECT_THAT(
      [] {
        openrlhf_plan(
            "deepspeed --module openrlhf.cli.train_sft --train_batch_size $BATCH "
            "--pretrain meta-llama/Meta-Llama-3-8B\n");
      },
      testing::ThrowsMessage<Error>(testing::HasSubstr("--set BATCH=VALUE")));
}

TEST(OpenRlhf, TrainersOfForksAreTakenForThoseTheyAreMadeOf) {
  const ImportedPlan made = openrlhf_plan(
      "python3 -m openrlhf.cli.train_search_ray --actor_num_nodes 1 --actor_num_gpus_per_node 4 "
      "\\\n"
      "  --pretrain meta-llama/Meta-Llama-3-8B --train_batch_size 64 --micro_train_batch_size 4 "
      "\\\n"
      "  --zero_stage 2 --bf16\n");
  EXPECT_EQ(made.planned.job.cluster.devices(), 4);
  EXPECT_EQ(made.planned.job.sequences, 64);
  EXPECT_THAT(made.report.not_read, lists("train_search_ray", SettingImpact::kMaybe));
  EXPECT_EQ(openrlhf_plan("deepspeed --num_gpus 4 --module openrlhf.cli.train_sft_masked "
                          "--pretrain meta-llama/Meta-Llama-3-8B --train_batch_size 64\n")
                .planned.job.length,
            2048);
  EXPECT_THAT(
      [] { openrlhf_plan("deepspeed --module openrlhf.cli.train_images --train_batch_size 8\n"); },
      testing::ThrowsMessage<Error>(testing::HasSubstr("no trainer of OpenRLHF that is read")));
}

TEST(OpenRlhf, BackendsOfBranchesAreRefused) {
  const std::string text =
      "torchrun --nproc_per_node=8 -m openrlhf.cli.train_sft --pretrain "
      "meta-llama/Meta-Llama-3-8B --train_batch_size 128 --backend ";
  EXPECT_THAT([&] { openrlhf_plan(text + "fsdp2\n"); },
              testing::ThrowsMessage<Error>(
                  testing::HasSubstr("backend: is of a branch; OpenRLHF is read on DeepSpeed")));
  EXPECT_EQ(openrlhf_plan(text + "deepspeed\n").planned.job.sequences, 128);
}

TEST(OpenRlhf, ABatchThatDeepSpeedRefusesIsRefused) {
  EXPECT_THAT(
      [] {
        openrlhf_plan(
            "python3 -m openrlhf.cli.train_ppo_ray --actor_num_nodes 2 --actor_num_gpus_per_node 8 "
            "--pretrain meta-llama/Meta-Llama-3-8B --train_batch_size 16 "
            "--micro_train_batch_size 2 --zero_stage 3\n");
      },
      testing::ThrowsMessage<Error>(
          testing::HasSubstr("is no multiple of 2 (micro_train_batch_size) x 16")));
}

/// Returns the plan in a written file, with buckets and overlap as in the original plan.
plan::PlannedJob trainer_read_back(const std::string& target, const plan::PlannedJob& planned) {
  const LaunchFile file = export_plan(target, planned, "");
  UserFacts given;
  given.known_cluster = planned.job.cluster;
  given.batch = std::to_string(planned.job.sequences) + "x" + std::to_string(planned.job.length);
  plan::PlannedJob back = import_text(target, "run.sh", file.text, given).planned;
  back.plan.overlap = planned.plan.overlap;
  back.plan.gradient_bucket = planned.plan.gradient_bucket;
  back.plan.parameter_bucket = planned.plan.parameter_bucket;
  return back;
}

plan::PlannedJob job_of_method(const plan::TrainingFramework& framework,
                               const std::string& method) {
  const std::string text =
      "stepwright: plan/2\njob:\n  model: llama-3.2-1b\n"
      "  cluster: {profile: dgx-h100, nodes: 2}\n  batch: {sequences: 128, length: 4096}\n"
      "  framework: {name: " +
      framework.name + ", variant: " + framework.variant +
      "}\n"
      "  objective: " +
      method +
      "\nparallel: {data: 16}\nsharding: {states: GGG}\n"
      "recompute: full\nmicro_batch: 2\n";
  plan::PlannedJob planned = plan::read_plan(YamlJsonDocument::parse(text, "plan.yaml"), {});
  const auto run = plan::nearest_runnable_plan(planned.job.framework, planned.job, planned.plan);
  EXPECT_TRUE(run) << framework.variant;
  if (run) planned.plan = *run;
  return planned;
}

TEST(WrittenTrainers, SayTheirPlanAndTheirMethod) {
  const std::string rollout = ", rollout: {prompt: 1024, tensor: 2}}";
  const plan::TrainingFramework verl{.name = "fsdp", .version = "", .variant = "verl"};
  const plan::TrainingFramework openrlhf{.name = "deepspeed", .version = "", .variant = "openrlhf"};
  const plan::TrainingFramework trl{.name = "accelerate", .version = "", .variant = "trl"};
  for (const auto& [target, framework, method] :
       {std::tuple{"verl", verl, "{kind: grpo, updates: 2, reference: host" + rollout},
        {"verl", verl, "{kind: ppo, reference: none" + rollout},
        {"openrlhf", openrlhf, std::string("sft")},
        {"openrlhf", openrlhf, std::string("dpo")},
        {"openrlhf", openrlhf, "{kind: grpo, updates: 2, reference: none, staleness: 0" + rollout},
        {"trl", trl, std::string("sft")},
        {"trl", trl, std::string("dpo")}}) {
    SCOPED_TRACE(std::string(target) + " " + method);
    const plan::PlannedJob planned = job_of_method(framework, method);
    plan::PlannedJob back;
    ASSERT_NO_THROW(back = trainer_read_back(target, planned)) << [&, &target = target] {
      try {
        return export_plan(target, planned, "").text;
      } catch (const Error& error) {
        return std::string(error.what());
      }
    }();
    EXPECT_EQ(back.plan, planned.plan);
    EXPECT_EQ(back.job.framework.variant, framework.variant);
    EXPECT_EQ(back.job.method.kind, planned.job.method.kind);
    EXPECT_EQ(back.job.method.updates, planned.job.method.updates);
    EXPECT_EQ(back.job.sequences, planned.job.sequences);
  }
}

TEST(WrittenTrainers, RefuseMethodsThatTheyHaveNot) {
  const plan::PlannedJob planned =
      job_of_method({.name = "accelerate", .version = "", .variant = "trl"},
                    "{kind: grpo, rollout: {tensor: 1}}");
  EXPECT_THAT([&] { export_plan("trl", planned, ""); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("objective.kind grpo")));
}

TEST(Slime, TheModelOfTheHubStandsForItsSizes) {
  const ImportedPlan made = openrlhf_plan(
      "python3 train.py --actor-num-nodes 1 --actor-num-gpus-per-node 8 --num-rollout 2 "
      "--megatron-to-hf-mode bridge --hf-checkpoint /m/Qwen3-30B-A3B --tensor-model-parallel-size "
      "2 "
      "--expert-model-parallel-size 4 --rollout-batch-size 8 --n-samples-per-prompt 8 "
      "--global-batch-size 64 --rollout-max-response-len 4096 --micro-batch-size 1 "
      "--sequence-parallel\n");
  EXPECT_EQ(made.planned.job.model_name, "qwen3-30b-a3b");
  EXPECT_EQ(made.planned.job.dispatcher, plan::TokenDispatcher::kAllToAll);
  EXPECT_EQ(made.planned.plan.parallel.expert, 4);
}

}  // namespace
}  // namespace stepwright::framework_files
