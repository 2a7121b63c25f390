#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "stepwright/core/error.h"
#include "tests/framework_files/imported.h"

namespace stepwright::framework_files {
namespace {

using testing::HasSubstr;

/// The arguments of BigScience's train/tr11-176B-ml/tr11-176B-ml.slurm.
const std::string kBloom =
    "deepspeed --num_nodes 48 --num_gpus 8 pretrain_gpt.py --tensor-model-parallel-size 4 "
    "--pipeline-model-parallel-size 12 --pp-partition-method 'type:transformer|embedding' "
    "--num-layers 70 --hidden-size 14336 --num-attention-heads 112 --seq-length 2048 "
    "--max-position-embeddings 2048 --micro-batch-size 2 --global-batch-size 2048 --bf16 "
    "--embed-layernorm --position-embedding-type alibi --checkpoint-activations "
    "--pad-vocab-size-to 250880 --deepspeed --deepspeed_config ds.json "
    "--deepspeed-activation-checkpointing";

/// Arguments of examples_deepspeed/MoE/ds_pretrain_gpt_350M_MoE128.sh of Megatron-DeepSpeed.
const std::string kExperts =
    "deepspeed --num_nodes 1 --num_gpus 8 pretrain_gpt.py --tensor-model-parallel-size 1 "
    "--moe-expert-parallel-size 4 --moe-train-capacity-factor 1.0 --micro-batch-size 4 "
    "--global-batch-size 256 --num-layers 24 --hidden-size 1024 --num-attention-heads 16 "
    "--seq-length 2048 --max-position-embeddings 2048 --fp16 --create-moe-param-group --deepspeed "
    "--deepspeed_config ds.json --no-pipeline-parallel --num-experts ";

ImportedPlan from_deepspeed(const std::string& text, const std::string& cluster) {
  UserFacts given;
  given.cluster = cluster;
  return import_text("", "train.sh", text, given);
}

TEST(MegatronDeepspeed, ReadsBloomAsItWasTrained) {
  const ImportedPlan imported = from_deepspeed(kBloom + " --zero-stage 0\n", "jean-zay-a100:48");
  const auto& [job, plan] = imported.planned;
  EXPECT_EQ(job.framework.name, "megatron-deepspeed");
  EXPECT_EQ(job.model.name, "bloom-176b");
  EXPECT_EQ(plan.parallel.data, 8);
  // Its optimizer of bf16 shards its states without ZeRO.
  EXPECT_EQ(plan::sharding_letters(plan.sharding), "NNG");
  EXPECT_EQ(plan.recompute.kind, plan::RecomputeKind::kFull);
  EXPECT_THAT(imported.report.not_read, lists("--deepspeed_config", SettingImpact::kYes));
  EXPECT_THAT(imported.report.not_read, lists("--pp-partition-method", SettingImpact::kYes));
  EXPECT_THAT(imported.report.read, takes("--zero-stage", "sharding.states"));
}

// deepspeedai/Megatron-DeepSpeed megatron/training.py: deepspeed.initialize.
TEST(MegatronDeepspeed, TheConfigurationThatItNamesSaysTheStage) {
  const std::string command =
      "deepspeed --num_nodes 1 --num_gpus 8 pretrain_gpt.py --num-layers 32 --hidden-size 4096 "
      "--num-attention-heads 32 --seq-length 2048 --max-position-embeddings 2048 "
      "--micro-batch-size 1 --global-batch-size 64 --bf16 --no-pipeline-parallel --deepspeed "
      "--zero-stage 1 --deepspeed_config ds.json\n";
  const std::string json =
      "{\"train_micro_batch_size_per_gpu\": 1, \"zero_optimization\": {\"stage\": 2, "
      "\"reduce_bucket_size\": 200000000, \"offload_optimizer\": {\"device\": \"cpu\"}}}";
  const std::vector<launch_scripts::SourceFile> given = {{"train.sh", command}, {"ds.json", json}};
  const std::vector<launch_scripts::SourceFile> written = {
      {"train.sh", "cat <<EOT > ds.json\n" + json + "\nEOT\n" + command}};
  for (const auto& files : {given, written}) {
    const ImportedPlan read = import_plan_files("", files, {.cluster = "dgx-h100:1"});
    EXPECT_EQ(plan::sharding_letters(read.planned.plan.sharding), "NGG");
    EXPECT_EQ(read.planned.plan.gradient_bucket, 200'000'000);
    EXPECT_THAT(read.report.not_read,
                testing::Not(lists("--deepspeed_config", SettingImpact::kYes)));
    EXPECT_EQ(read.planned.plan.offload.optimizer, 1);
    EXPECT_THAT(read.report.read, takes("zero_optimization.stage", "sharding.states"));
  }
}

TEST(MegatronDeepspeed, ReadsWhatLeavesTheDevicesAndWhatOverlaps) {
  const std::string command =
      "deepspeed --num_nodes 1 --num_gpus 8 pretrain_gpt2.py --num-layers 32 --hidden-size 4096 "
      "--num-attention-heads 32 --seq-length 1024 --max-position-embeddings 1024 --batch-size 2 "
      "--model-parallel-size 1 --train-iters 9 --fp16 --deepspeed --deepspeed_config ds.json "
      "--cpu-optimizer\n";
  const auto plan = [&](const std::string& zero) {
    const std::vector<launch_scripts::SourceFile> files = {
        {"train.sh", command}, {"ds.json", "{\"zero_optimization\": {" + zero + "}}"}};
    return import_plan_files("", files, {.cluster = "dgx-h100:1"}).planned.plan;
  };
  const plan::Plan third = plan(R"("stage": 3, "cpu_offload": true, "cpu_offload_params": true)");
  EXPECT_TRUE(third.offload.masters);
  EXPECT_TRUE(third.offload.parameters);
  EXPECT_TRUE(third.overlap.gradients);
  EXPECT_TRUE(third.overlap.parameters);
  EXPECT_TRUE(plan(R"("stage": 2, "overlap_comm": true)").overlap.gradients);
  EXPECT_FALSE(plan(R"("stage": 2)").overlap.gradients);
}

TEST(MegatronDeepspeed, ReadsStagesOfZeroAndUlysses) {
  const std::string arguments =
      "deepspeed --num_nodes 1 --num_gpus 8 pretrain_gpt.py --num-layers 32 --hidden-size 4096 "
      "--num-attention-heads 32 --num-key-value-heads 8 --normalization rmsnorm --swiglu "
      "--seq-length 8192 --max-position-embeddings 8192 --micro-batch-size 1 --global-batch-size 8 "
      "--fp16 --use-flash-attn-v2 --ds-sequence-parallel-size 4 --deepspeed --zero-stage ";
  const plan::PlannedJob planned = from_deepspeed(arguments + "3\n", "dgx-h100:1").planned;
  EXPECT_EQ(plan::sharding_letters(planned.plan.sharding), "GGG");
  EXPECT_EQ(planned.plan.parallel.context, 4);
  EXPECT_EQ(planned.plan.context_kind, plan::ContextKind::kUlysses);
  EXPECT_EQ(planned.job.model.kv_heads, 8);
  EXPECT_EQ(planned.job.model.norm, model::Norm::kRms);
  EXPECT_EQ(planned.job.kernels.attention, cluster::AttentionKernel::kFlash2);
  EXPECT_EQ(
      plan::sharding_letters(from_deepspeed(arguments + "0\n", "dgx-h100:1").planned.plan.sharding),
      "NNN");
  EXPECT_THROW(from_deepspeed(arguments + "4\n", "dgx-h100:1"), Error);
}

TEST(MegatronDeepspeed, HasExpertsInEachSecondLayer) {
  const ImportedPlan imported = from_deepspeed(kExperts + "128\n", "dgx-a100-80g:1");
  const auto& [job, plan] = imported.planned;
  ASSERT_TRUE(job.model.experts.has_value());
  EXPECT_EQ(job.model.experts->top_k, 1);
  EXPECT_EQ(job.dispatcher, plan::TokenDispatcher::kAllToAll);
  EXPECT_EQ(plan.parallel.expert, 4);
  EXPECT_EQ(plan.parallel.expert_tensor, 1);
  EXPECT_EQ(plan::sharding_letters(plan.sharding), "NNG");  // --zero-stage is 1 by default
  EXPECT_EQ(job.capacity_factor, 1);
  EXPECT_FALSE(
      from_deepspeed(kExperts + "1\n", "dgx-a100-80g:1").planned.job.model.experts.has_value());
}

TEST(MegatronDeepspeed, RefusesStagesWithoutItsPipeline) {
  try {
    from_deepspeed(kBloom + " --no-pipeline-parallel\n", "jean-zay-a100:48");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("--no-pipeline-parallel is only for"));
  }
}

}  // namespace
}  // namespace stepwright::framework_files
