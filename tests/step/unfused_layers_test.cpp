// Tensors that layers and losses keep if PyTorch runs them as unfused operators, worked by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "stepwright/step/layer.h"
#include "tests/step/adapters.h"
#include "tests/step/jobs.h"

namespace stepwright::step {
namespace {

constexpr std::int64_t kRowsOfLayer = 4096;
constexpr std::int64_t kRowColumns = 4096;        // columns of a row of qwen3-8b and llama-3-8b
constexpr std::int64_t kQueryColumns = 4096;      // columns of queries: 32 heads of 128
constexpr std::int64_t kKeyColumns = 1024;        // columns of keys: 8 heads of 128
constexpr std::int64_t kQwenMlpColumns = 12288;   // columns of the MLP of qwen3-8b
constexpr std::int64_t kLlamaMlpColumns = 14336;  // columns of the MLP of llama-3-8b
constexpr std::int64_t kQueryHeads = 32;
constexpr std::int64_t kKeyHeads = 8;

plan::Job unfused_job(std::string_view model, std::string_view framework,
                      std::string_view variant = "") {
  plan::Job job = job_of(model, 1, 8, kRowsOfLayer);
  job.framework = {.name = std::string(framework), .variant = std::string(variant)};
  job.kernels.fused_norm = false;
  job.kernels.fused_accumulation = false;
  return job;
}

ModelBlockTemplatePair first_layer(const plan::Job& job, std::string_view states = "GGG") {
  plan::Plan plan = plan_of(job, 1, 1);
  if (states == "GGG") {
    plan.sharding.parameters = plan::StateShardingScope::kGlobal;
    plan.sharding.gradients = plan::StateShardingScope::kGlobal;
    plan.sharding.optimizer = plan::StateShardingScope::kGlobal;
  }
  return build_layer_templates(make_setting(job, plan), job.model.layer_class(1), {});
}

std::int64_t bytes_kept_of(const ModelBlockTemplatePair& layer, std::string_view name = "") {
  std::int64_t bytes = 0;
  for (const TensorId id : layer.forward.saved) {
    const TemplateTensor& tensor = layer.forward.tensors[static_cast<std::size_t>(id)];
    if (name.empty() || tensor.name == name) bytes += tensor.bytes();
  }
  return bytes;
}

// transformers 5.23.0 models/qwen3/modeling_qwen3.py, a layer without recomputation: the row
// "transformers_fsdp2_dense-10152" of data/framework_memory.csv has these tensors at its peak.
TEST(UnfusedLayers, OfTransformersKeepCopiesOfNormsAndActivatedGates) {
  const std::int64_t norm =
      4 * kRowColumns + 2 * kRowColumns + 4;  // input in fp32, normed rows, a number
  const std::int64_t rows = 2 * kRowColumns;  // the input of the products after a norm
  const std::int64_t head_norms =
      (4 + 2) * (kQueryColumns + kKeyColumns) + 4 * (kQueryHeads + kKeyHeads);
  const std::int64_t core =
      2 * (kQueryColumns + 2 * kKeyColumns) + 2 * kQueryColumns + 4 * kQueryHeads;
  const std::int64_t mlp = 2 * 2 * kQwenMlpColumns + 2 * kQwenMlpColumns + 2 * kQwenMlpColumns;
  EXPECT_EQ(bytes_kept_of(first_layer(unfused_job("qwen3-8b", "accelerate"))),
            kRowsOfLayer * (2 * (norm + rows) + head_norms + core + mlp));
}

TEST(UnfusedLayers, WithFrozenNormsKeepTheirInputAlone) {
  plan::Job job = unfused_job("llama-3-8b", "accelerate");
  EXPECT_EQ(bytes_kept_of(first_layer(job), "copies"), kRowsOfLayer * 2 * (4 + 2) * kRowColumns);
  adapt(job, 16);
  EXPECT_EQ(bytes_kept_of(first_layer(job), "copies"), kRowsOfLayer * 2 * 4 * kRowColumns);
}

// torchtune 0.6.1: weights in bf16 multiply rows in fp32, and each head of queries has a copy of
// its keys and values.
TEST(UnfusedLayers, OfTorchtuneNormInFp32AndExpandKeys) {
  plan::Job job = unfused_job("llama-3-8b", "fsdp", "torchtune");
  job.kernels.fused_activation = false;
  const std::int64_t norm = 4 * kRowColumns + 4 * kRowColumns + 4 + 2 * kRowColumns;
  const std::int64_t core = 2 * 3 * kQueryColumns + 2 * kQueryColumns + 4 * kQueryHeads;
  const std::int64_t mlp = 2 * 2 * kLlamaMlpColumns + 2 * kLlamaMlpColumns + 2 * kLlamaMlpColumns;
  EXPECT_EQ(bytes_kept_of(first_layer(job)), kRowsOfLayer * (2 * norm + core + mlp));
}

// PEFT under DDP and autocast: queries, keys and values cast rows for an adapter each, and so does
// the product behind attention.
TEST(UnfusedLayers, WithAdaptersInFp32CastTheirInputs) {
  plan::Job job = unfused_job("llama-3-8b", "accelerate");
  job.kernels.masters = plan::MasterWeights::kAlone;
  adapt(job, 16);
  job.model.adapters->joined = false;
  for (const model::LoraTargetProduct mlp :
       {model::LoraTargetProduct::kGate, model::LoraTargetProduct::kUp,
        model::LoraTargetProduct::kFc2}) {
    job.model.adapters->targets.reset(static_cast<std::size_t>(mlp));
  }
  EXPECT_EQ(bytes_kept_of(first_layer(job, "NNN"), "casts"),
            kRowsOfLayer * 2 * (3 * kRowColumns + kQueryColumns));
  EXPECT_EQ(bytes_kept_of(first_layer(job), "casts"), 0) << "FSDP2 casts parameters instead";
}

// NVIDIA/TransformerEngine transformer_engine/pytorch/attention/dot_product_attention/backends.py,
// FlashAttention.forward: two sequences of 4,096 tokens, whose results have 4,096 columns.
TEST(UnfusedLayers, OfTransformerEngineKeepFlashAttentionsResultInTwoOrders) {
  plan::Job job = job_of("llama-3-8b", 1, 16, kRowsOfLayer);
  job.framework = {.name = "megatron-core"};
  const auto copied = [&](std::int64_t sequences, std::int64_t context = 1) {
    plan::Plan plan = plan_of(job, 1, 1, context);
    plan.micro_batch = sequences;
    const StepBuildSettings setting = make_setting(job, plan);
    return bytes_kept_of(build_layer_templates(setting, job.model.layer_class(1), {}),
                         "attention.copy");
  };
  constexpr std::int64_t kResult = 2 * kRowsOfLayer * kQueryColumns * 2;
  EXPECT_EQ(copied(2), kResult);
  EXPECT_EQ(copied(1), 0);  // one sequence has its positions first in both orders
  EXPECT_EQ(copied(2, 2), 0);
  job.kernels.attention = cluster::AttentionKernel::kCudnn;
  EXPECT_EQ(copied(2), 0);
  job.kernels.attention = cluster::AttentionKernel::kFlash2;
  job.framework = {.name = "torchtitan"};
  EXPECT_EQ(copied(2), 0);
}

// A core that runs again leaves the copy alone, which its product reads.
TEST(UnfusedLayers, ACoreThatRunsAgainKeepsTheResultOnce) {
  plan::Job job = job_of("llama-3-8b", 1, 16, kRowsOfLayer);
  job.framework = {.name = "megatron-core"};
  plan::Plan plan = plan_of(job, 1, 1);
  plan.micro_batch = 2;
  plan::LayerRecompute recompute;
  recompute.modules = {plan::RecomputeModule::kCoreAttention};
  const ModelBlockTemplatePair layer =
      build_layer_templates(make_setting(job, plan), job.model.layer_class(1), recompute);
  EXPECT_EQ(bytes_kept_of(layer, "attention.copy"), 2 * kRowsOfLayer * kQueryColumns * 2);
  EXPECT_EQ(bytes_kept_of(layer, "attention.out"), 0);
}

}  // namespace
}  // namespace stepwright::step
