#include "stepwright/framework_files/megatron/bridge_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stepwright/core/error.h"
#include "stepwright/framework_files/launch_file.h"

namespace stepwright::framework_files {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::Not;

/// Part of the YAML that Megatron-Bridge writes beside a checkpoint.
constexpr const char* kContainer = R"(_target_: megatron.bridge.training.config.ConfigContainer
checkpoint:
  _target_: megatron.bridge.training.config.CheckpointConfig
  ckpt_format: torch_dist
ddp:
  _target_: megatron.core.distributed.DistributedDataParallelConfig
  grad_reduce_in_fp32: true
  overlap_grad_reduce: true
  overlap_param_gather: true
  use_distributed_optimizer: true
mixed_precision:
  _target_: megatron.bridge.training.mixed_precision.MixedPrecisionConfig
  bf16: true
  fp8: e4m3
  fp8_recipe: mxfp8
model:
  _target_: megatron.bridge.models.llama.llama_provider.Llama3ModelProvider8B
  activation_func:
    _call_: false
    _target_: torch.nn.functional.silu
  add_bias_linear: false
  attention_backend:
    _args_: [1]
    _call_: true
    _target_: megatron.core.transformer.enums.AttnBackend
  attention_dropout: 0.0
  bf16: true
  cpu_offloading_num_layers: 0
  ffn_hidden_size: 14336
  gated_linear_unit: true
  hidden_dropout: 0.0
  hidden_size: 4096
  init_method:
    _partial_: true
    _target_: torch.nn.init.normal_
    std: 0.01
  kv_channels: 128
  layernorm_epsilon: 1.0e-05
  moe_permute_fusion: false
  normalization: RMSNorm
  num_attention_heads: 32
  num_layers: 32
  num_query_groups: 8
  our_own: 3
  pipeline_model_parallel_layout:
  - [embedding, decoder, decoder, decoder, decoder, decoder, decoder, decoder, decoder, decoder, decoder, decoder, decoder, decoder, decoder, decoder]
  - [decoder, decoder, decoder, decoder, decoder, decoder, decoder, decoder, decoder, decoder, decoder, decoder, decoder, decoder, decoder, decoder, decoder, loss]
  pipeline_model_parallel_size: 2
  position_embedding_type: rope
  recompute_granularity: null
  rotary_base: 500000
  seq_length: 8192
  sequence_parallel: true
  share_embeddings_and_output_weights: false
  tensor_model_parallel_size: 4
  use_fused_weighted_squared_relu: true
  vocab_size: 128256
train:
  _target_: megatron.bridge.training.config.TrainingConfig
  global_batch_size: 512
  micro_batch_size: 1
  train_iters: 100
)";

ImportedPlan imported_container(const std::string& text) {
  UserFacts given;
  given.cluster = "dgx-b200:2";
  const launch_scripts::SourceFile file{"run_config.yaml", text};
  return import_plan_files("", {&file, 1}, given);
}

TEST(MegatronBridgeFields, OfAWholeContainerAreRead) {
  const ImportedPlan plan = imported_container(kContainer);
  EXPECT_EQ(plan.target, "nemo");
  EXPECT_EQ(plan.planned.job.model_name, "llama-3-8b");
  EXPECT_EQ(plan.planned.plan.parallel.tensor, 4);
  EXPECT_EQ(plan.planned.plan.layers, (std::vector<std::int64_t>{15, 17}));
  EXPECT_EQ(plan.planned.job.precision, DType::kMxfp8);
  EXPECT_EQ(plan.planned.job.kernels.attention, cluster::AttentionKernel::kFlash2);
}

TEST(MegatronBridgeFields, KeepTheirNamesAndLines) {
  const ImportedPlan plan = imported_container(kContainer);
  EXPECT_THAT(plan.report.read,
              Contains(AllOf(Field(&ImportedSetting::name, "train.micro_batch_size"),
                             Field(&ImportedSetting::line, 61),
                             Field(&ImportedSetting::field, "micro_batch"))));
  EXPECT_THAT(plan.report.read, Contains(AllOf(Field(&ImportedSetting::name, "mixed_precision.fp8"),
                                               Field(&ImportedSetting::line, 14))));
  EXPECT_THAT(plan.report.not_read,
              Contains(AllOf(Field(&SettingNotInPlan::name, "model.our_own"),
                             Field(&SettingNotInPlan::matters, SettingImpact::kMaybe))));
  EXPECT_THAT(
      plan.report.not_read,
      Contains(AllOf(Field(&SettingNotInPlan::name, "model.use_fused_weighted_squared_relu"),
                     Field(&SettingNotInPlan::matters, SettingImpact::kYes))));
  EXPECT_THAT(plan.report.not_read,
              Not(Contains(Field(&SettingNotInPlan::name, "train.train_iters"))));
}

// The form of NVIDIA-NeMo/Megatron-Bridge
// examples/recipes/llama/conf/llama3_8b_pretrain_override.yaml.
constexpr const char* kOverrides = R"(train:
  global_batch_size: 128
  micro_batch_size: 1
optimizer:
  lr: 1.0e-6
  use_distributed_optimizer: true
  bf16: true
  optimizer_cpu_offload: true
model:
  seq_length: 8192
  tensor_model_parallel_size: 2
  pipeline_model_parallel_size: 2
  sequence_parallel: true
)";

TEST(MegatronBridgeFields, OverridesGoOverARecipe) {
  const launch_scripts::SourceFile file{"sft.yaml", kOverrides};
  UserFacts given{.cluster = "dgx-h100:2"};
  EXPECT_THROW(import_plan_files("", {&file, 1}, given), Error);
  given.model = "llama-3-8b";
  const ImportedPlan plan = import_plan_files("", {&file, 1}, given);
  EXPECT_EQ(plan.target, "nemo");
  EXPECT_EQ(plan.planned.job.precision, DType::kBf16);
  EXPECT_EQ(plan::sharding_letters(plan.planned.plan.sharding), "NNG");
  EXPECT_EQ(plan.planned.plan.parallel.data, 4);
  EXPECT_GT(plan.planned.plan.offload.optimizer, 0);
  EXPECT_THAT(plan.report.not_read,
              Contains(AllOf(Field(&SettingNotInPlan::name, "recipe"),
                             Field(&SettingNotInPlan::matters, SettingImpact::kYes))));
  EXPECT_THAT(plan.report.not_read,
              Contains(AllOf(Field(&SettingNotInPlan::name, "optimizer.lr"),
                             Field(&SettingNotInPlan::matters, SettingImpact::kNo))));
  given.model = "qwen3-30b-a3b";
  given.settings = {"model.expert_model_parallel_size=4"};
  EXPECT_EQ(import_plan_files("", {&file, 1}, given).planned.plan.parallel.expert, 4);
  given.model = "llama-3-8b";
  given.settings.clear();
  launch_scripts::SourceFile silent = file;
  silent.text.erase(silent.text.find("  bf16: true\n"), 13);
  EXPECT_EQ(import_plan_files("", {&silent, 1}, given).planned.job.precision, DType::kBf16);
}

}  // namespace
}  // namespace stepwright::framework_files
