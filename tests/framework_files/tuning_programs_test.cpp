#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "imported.h"
#include "stepwright/core/error.h"
#include "stepwright/framework_files/launch_file.h"

namespace stepwright::framework_files {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;

ImportedPlan read_tuning(const std::string& text, UserFacts given = {}) {
  if (given.cluster.empty()) given.cluster = "dgx-h100";
  const launch_scripts::SourceFile file{"tune.sh", text};
  return import_plan_files("", {&file, 1}, given);
}

std::string tuning_refusal(const std::string& text) {
  try {
    read_tuning(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// The form of volcengine/verl examples/sft/gsm8k/run_qwen_05_sp2.sh (0.6).
constexpr const char* kFirstTrainer =
    "#!/bin/bash\ntorchrun --standalone --nnodes=1 --nproc_per_node=4 \\\n"
    "  -m verl.trainer.fsdp_sft_trainer data.train_files=rewards/x.py \\\n"
    "  data.train_batch_size=32 data.micro_batch_size_per_gpu=2 data.max_length=4096 \\\n"
    "  model.partial_pretrain=Qwen/Qwen3-8B trainer.n_gpus_per_node=8 ";

TEST(VerlTuning, ReadsTheTrainerOnFsdp) {
  const ImportedPlan plan =
      read_tuning(std::string(kFirstTrainer) + "ulysses_sequence_parallel_size=2\n");
  EXPECT_EQ(plan.target, "verl");
  EXPECT_EQ(plan.planned.plan.parallel.context, 2);
  EXPECT_EQ(plan.planned.plan.parallel.data, 2);
  EXPECT_EQ(plan.planned.job.sequences, 32);
  EXPECT_EQ(plan.planned.job.length, 4096);
  EXPECT_EQ(plan.planned.plan.micro_batch, 2);
  EXPECT_EQ(plan::sharding_letters(plan.planned.plan.sharding), "GGG");
  EXPECT_EQ(plan.planned.plan.recompute.kind, plan::RecomputeKind::kFull);
  EXPECT_THAT(plan.report.read, takes("model.partial_pretrain", "job.model"));
}

// verl/workers/engine/fsdp/transformer_impl.py: FlashAttention-2 wherever it runs, which plain FSDP
// does not take on a MI300X.
TEST(VerlTuning, AttentionIsThatOfTheProgram) {
  UserFacts given;
  given.cluster = "{profile: mi300x-8gpu, nodes: 1, devices_per_node: 4}";
  const std::vector<launch_scripts::SourceFile> files = {
      {"train.sh", std::string(kFirstTrainer) + "ulysses_sequence_parallel_size=2\n"}};
  const ImportedPlan plan = import_plan_files("verl", files, given);
  EXPECT_EQ(plan.planned.job.kernels.attention, cluster::AttentionKernel::kFlash2);
}

TEST(VerlTuning, AdaptersAndStatesOnTheHostAreTaken) {
  const ImportedPlan plan =
      read_tuning(std::string(kFirstTrainer) +
                  "model.lora_rank=32 model.enable_gradient_checkpointing=False "
                  "model.fsdp_config.cpu_offload=True "
                  "model.fsdp_config.offload_params=True\n");
  ASSERT_TRUE(plan.planned.job.model.adapters.has_value());
  EXPECT_EQ(plan.planned.job.model.adapters->rank, 32);
  EXPECT_TRUE(plan.planned.plan.offload.parameters);
  EXPECT_EQ(plan.planned.plan.recompute.kind, plan::RecomputeKind::kNone);
}

TEST(VerlTuning, AConfigurationOfOnesOwnIsAskedFor) {
  EXPECT_THAT(tuning_refusal(std::string(kFirstTrainer) +
                             "--config-path /conf/mine --config-name sft_trainer.yaml\n"),
              HasSubstr("--config-name: names a configuration: give it, too"));
  EXPECT_EQ(tuning_refusal(std::string(kFirstTrainer) + "--config-name=sft_trainer\n"), "");
}

// verl/trainer/config/sft_trainer_engine.yaml (0.9.1).
TEST(VerlTuning, ReadsTheTrainerOverAnEngine) {
  const std::string words =
      "#!/bin/bash\ntorchrun --nnodes=1 --nproc_per_node=8 -m verl.trainer.sft_trainer "
      "data.train_batch_size=64 data.max_length=2048 data.max_token_len_per_gpu=4096 "
      "model.path=Qwen/Qwen3-8B ";
  const plan::PlannedJob sharded = read_tuning(words + "engine=fsdp engine.fsdp_size=4\n").planned;
  EXPECT_EQ(sharded.plan.micro_batch, 2);
  EXPECT_EQ(plan::sharding_letters(sharded.plan.sharding), "III");
  EXPECT_EQ(sharded.plan.sharding.group, 4);
  const ImportedPlan parallel =
      read_tuning(words +
                  "engine=megatron engine.tensor_model_parallel_size=2 "
                  "engine.pipeline_model_parallel_size=2 model.lora.rank=8\n");
  EXPECT_EQ(parallel.planned.plan.parallel.tensor, 2);
  EXPECT_EQ(parallel.planned.plan.parallel.pipeline, 2);
  EXPECT_TRUE(parallel.planned.plan.sequence_parallel);
  EXPECT_THAT(parallel.report.read, takes("model.lora.rank", "job.adapters.rank"));
  EXPECT_THAT(tuning_refusal(words + "engine=veomni\n"),
              HasSubstr("engine veomni is not read: fsdp and megatron are"));
}

// verl/trainer/config/model/hf_model.yaml: adapters of Megatron-Bridge.
TEST(Verl, ReadsAdaptersAndFsdpOfMegatron) {
  const std::string words =
      "#!/bin/bash\npython3 -m verl.trainer.main_ppo model_engine=megatron "
      "data.max_prompt_length=512 data.max_response_length=512 "
      "actor_rollout_ref.model.path=Qwen/Qwen3-8B actor_rollout_ref.actor.ppo_mini_batch_size=64 "
      "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1 trainer.n_gpus_per_node=8 "
      "trainer.nnodes=1 ";
  const ImportedPlan plan =
      read_tuning(words +
                  "actor_rollout_ref.model.lora.rank=16 "
                  "actor_rollout_ref.actor.megatron.tensor_model_parallel_size=4\n");
  ASSERT_TRUE(plan.planned.job.model.adapters.has_value());
  EXPECT_EQ(plan.planned.job.model.adapters->rank, 16);
  EXPECT_THAT(plan.report.read, takes("actor_rollout_ref.model.lora.rank", "job.adapters.rank"));
  const plan::PlannedJob sharded =
      read_tuning(words + "actor_rollout_ref.actor.megatron.use_megatron_fsdp=True\n").planned;
  EXPECT_EQ(plan::sharding_letters(sharded.plan.sharding), "GGG");
}

constexpr const char* kSlime =
    "#!/bin/bash\nMODEL_ARGS=(--swiglu --num-layers 28 --hidden-size 3584 --ffn-hidden-size 18944\n"
    "  --num-attention-heads 28 --group-query-attention --num-query-groups 4 --add-qkv-bias\n"
    "  --normalization RMSNorm --disable-bias-linear --rotary-base 1000000 --vocab-size 152064\n"
    "  --position-embedding-type rope --untie-embeddings-and-output-weights)\n"
    "ray job submit --address=http://127.0.0.1:8265 -- python3 train.py \\\n"
    "  --actor-num-nodes 2 --actor-num-gpus-per-node 4 --rollout-num-gpus 8 ${MODEL_ARGS[@]} \\\n"
    "  --hf-checkpoint /m --num-rollout 3 --rollout-batch-size 32 --n-samples-per-prompt 8 \\\n"
    "  --tensor-model-parallel-size 2 --sequence-parallel --seq-length 4096 --use-kl-loss ";

// THUDM/slime slime/utils/arguments.py, slime/backends/megatron_utils/arguments.py.
TEST(Slime, ItsActorsTrainInBf16WithAShardedOptimizer) {
  const ImportedPlan plan = read_tuning(std::string(kSlime) + "--num-steps-per-rollout 2\n");
  EXPECT_EQ(plan.planned.job.cluster.devices(), 8);
  EXPECT_EQ(plan.planned.plan.parallel.data, 4);
  EXPECT_EQ(plan.planned.job.sequences, 32 * 8 / 2);
  EXPECT_EQ(plan.planned.job.precision, DType::kBf16);
  EXPECT_EQ(plan::sharding_letters(plan.planned.plan.sharding), "NNG");
  EXPECT_THAT(plan.report.read, takes("--actor-num-nodes", "job.cluster"));
  EXPECT_THAT(plan.report.not_read, lists("--hf-checkpoint", SettingImpact::kNo));
  EXPECT_THAT(plan.report.not_read, lists("--use-kl-loss", SettingImpact::kYes));
  EXPECT_THAT(plan.report.assumed,
              Contains(AllOf(Field(&AssumedPlanField::field, "job.precision"),
                             Field(&AssumedPlanField::why, HasSubstr("slime trains in bf16")))));
}

TEST(Slime, FineTuningHasNoLengthInItsArguments) {
  std::string tuned = std::string(kSlime) +
                      "--loss-type sft_loss --use-dynamic-batch-size --max-tokens-per-gpu 4096 "
                      "--rollout-max-response-len 32\n";
  tuned.replace(tuned.find("--seq-length 4096"), 17, "");
  EXPECT_THAT([&] { read_tuning(tuned); }, testing::ThrowsMessage<Error>(HasSubstr("length")));
  UserFacts given;
  given.cluster = "dgx-h100";
  given.batch = "256x2048";
  const launch_scripts::SourceFile file{"run.sh", tuned};
  const ImportedPlan plan = import_plan_files("", {&file, 1}, given);
  EXPECT_EQ(plan.planned.job.length, 2048);
  EXPECT_EQ(plan.planned.plan.micro_batch, 2 * plan.planned.plan.parallel.context);
  EXPECT_EQ(plan.planned.job.method.kind, plan::TrainingMethodKind::kSft);
}

// How long sequences are decides, not an argument that nothing heeds.
TEST(Slime, MicroBatchesHoldAsManySequencesAsTokensAllow) {
  const ImportedPlan plan = read_tuning(std::string(kSlime) +
                                        "--use-dynamic-batch-size --max-tokens-per-gpu 4096 "
                                        "--rollout-max-response-len 2048\n");
  EXPECT_EQ(plan.planned.job.length, 2048);
  EXPECT_EQ(plan.planned.plan.micro_batch, 2 * plan.planned.plan.parallel.context);
  EXPECT_THAT(plan.report.not_read, lists("--seq-length", SettingImpact::kNo));
}

TEST(Slime, WhatOnlyGeneratesIsRefused) {
  EXPECT_THAT(tuning_refusal(std::string(kSlime) + "--debug-rollout-only\n"),
              HasSubstr("--debug-rollout-only: only generates, nothing is trained"));
  std::string text = kSlime;
  text.replace(text.find("--actor-num-nodes 2"), 19, "--actor-num-nodes x");
  EXPECT_THAT(tuning_refusal(text),
              HasSubstr("actor_num_nodes: must be an integer above 0; it is x"));
}

// torchtitan 0.0.2, torchtitan/config_manager.py: before there was a section `parallelism`.
TEST(TorchtitanOfOld, DegreesStandAmongTrainingAndExperiments) {
  const launch_scripts::SourceFile file{
      "old.toml",
      "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nbatch_size = 8\n"
      "seq_len = 8192\ndata_parallel_replicate_degree = 2\n"
      "data_parallel_shard_degree = 4\ntensor_parallel_degree = 2\n"
      "warmup_steps = 20\n[experimental]\npipeline_parallel_degree = 4\n"};
  const ImportedPlan plan = import_plan_files("", {&file, 1}, {.cluster = "dgx-h100"});
  EXPECT_EQ(plan.planned.job.cluster.devices(), 64);
  EXPECT_EQ(plan.planned.plan.parallel.tensor, 2);
  EXPECT_EQ(plan.planned.plan.parallel.pipeline, 4);
  EXPECT_EQ(plan.planned.plan.micro_batch, 2);
  EXPECT_EQ(plan.planned.plan.sharding.group, 4);
  EXPECT_EQ(plan.planned.job.sequences, 8 * 8);
  launch_scripts::SourceFile odd = file;
  odd.text += "pipeline_parallel_microbatches = 3\n";
  EXPECT_THAT([&] { import_plan_files("", {&odd, 1}, {.cluster = "dgx-h100"}); },
              testing::ThrowsMessage<Error>(
                  HasSubstr("batch_size 8 is not a multiple of pipeline_parallel_microbatches 3")));
}

}  // namespace
}  // namespace stepwright::framework_files
