#include <gtest/gtest.h>

#include "stepwright/core/error.h"
#include "tests/framework_files/imported.h"

namespace stepwright::framework_files {
namespace {

ImportedPlan openrlhf_plan(const std::string& text) {
  Given given;
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
  EXPECT_THAT(made.report.not_read, lists("train_ppo_ray", Matters::kYes));
  EXPECT_THAT(made.report.not_read, lists("vllm_num_engines", Matters::kYes));
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
  EXPECT_THAT(made.report.not_read, lists("ds.packing_samples", Matters::kYes));
  EXPECT_THAT(made.report.not_read, lists("actor.adam.lr", Matters::kNo));
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
  EXPECT_THAT(made.report.not_read, lists("train_search_ray", Matters::kMaybe));
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

TEST(Slime, TheModelOfTheHubStandsForItsSizes) {
  const ImportedPlan made = openrlhf_plan(
      "python3 train.py --actor-num-nodes 1 --actor-num-gpus-per-node 8 --num-rollout 2 "
      "--megatron-to-hf-mode bridge --hf-checkpoint /m/Qwen3-30B-A3B --tensor-model-parallel-size "
      "2 "
      "--expert-model-parallel-size 4 --rollout-batch-size 8 --n-samples-per-prompt 8 "
      "--global-batch-size 64 --rollout-max-response-len 4096 --micro-batch-size 1 "
      "--sequence-parallel\n");
  EXPECT_EQ(made.planned.job.model_name, "qwen3-30b-a3b");
  EXPECT_EQ(made.planned.job.dispatcher, plan::Dispatcher::kAllToAll);
  EXPECT_EQ(made.planned.plan.parallel.expert, 4);
}

}  // namespace
}  // namespace stepwright::framework_files
