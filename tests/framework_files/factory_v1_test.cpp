#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "imported.h"
#include "stepwright/core/error.h"

namespace stepwright::framework_files {
namespace {

using testing::HasSubstr;

// The form of hiyouga/LLaMA-Factory examples/v1/train_full/train_full_fsdp2.yaml.
constexpr const char* kShared = R"(model: Qwen/Qwen3-0.6B
model_class: llm
template: qwen3_nothink

kernel_config:
  name: auto
  include_kernels: auto
quant_config: null

dist_config:
  name: fsdp2
  dcp_path: null

train_dataset: data/v1_sft_demo.yaml
output_dir: outputs/test_fsdp2
micro_batch_size: 1
cutoff_len: 4096
learning_rate: 1.0e-4
max_steps: 10
sample_backend: hf
max_new_tokens: 128
)";

ImportedPlan read_v1(const std::string& text, std::vector<launch_scripts::SourceFile> beside = {}) {
  beside.insert(beside.begin(), {"sft.yaml", text});
  return import_plan_files("", beside, {.cluster = "dgx-h100:2"});
}

std::string shared_with(const std::string& from, const std::string& to) {
  std::string text = kShared;
  text.replace(text.find(from), from.size(), to);
  return text;
}

std::string v1_refused(const std::string& text) {
  try {
    read_v1(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    return error.what();
  }
  return "";
}

TEST(LlamaFactoryV1, SharesItsModelByFsdp2) {
  const ImportedPlan imported = read_v1(kShared);
  EXPECT_EQ(imported.target, "llama-factory");
  const auto& [job, plan] = imported.planned;
  EXPECT_EQ(job.framework.name, "fsdp");
  EXPECT_EQ(job.model_name, "qwen3-0.6b");
  EXPECT_EQ(job.sequences, 16);
  EXPECT_EQ(job.length, 4096);
  EXPECT_EQ(job.precision, DType::kBf16);
  EXPECT_EQ(job.optimizer, plan::Optimizer::kAdamW);
  EXPECT_EQ(plan.accumulate, DType::kFp32);
  EXPECT_EQ(plan.recompute.kind, plan::RecomputeKind::kFull);
  EXPECT_EQ(plan::sharding_letters(plan.sharding), "GGG");
  for (const SettingNotInPlan& one : imported.report.not_read) {
    if (one.name == "kernel_config.include_kernels") continue;
    EXPECT_EQ(one.matters, SettingImpact::kNo) << one.name;
  }
}

TEST(LlamaFactoryV1, ReadsItsMeshes) {
  const auto dist = [](const std::string& lines) {
    return read_v1(shared_with("  dcp_path: null\n", lines)).planned.plan;
  };
  plan::Plan plan = dist("  cp_size: 2\n  mp_replicate_size: 2\n  reshard_after_forward: false\n");
  EXPECT_EQ(plan.parallel.context, 2);
  EXPECT_EQ(plan.context_kind, plan::ContextKind::kUlysses);
  EXPECT_EQ(plan::sharding_letters(plan.sharding), "NII");
  EXPECT_EQ(plan.sharding.group, 8);
  EXPECT_EQ(dist("  cp_size: 4\n  cp_mode: ring_zigzag\n").context_kind, plan::ContextKind::kRing);
  EXPECT_TRUE(dist("  offload_params: true\n").offload.parameters);
  EXPECT_THAT(v1_refused(shared_with("  dcp_path: null\n", "  mp_replicate_size: 3\n")),
              HasSubstr("mp_replicate_size 3"));
  EXPECT_THAT(v1_refused(shared_with("  dcp_path: null\n", "  cp_mode: stripes\n")),
              HasSubstr("dist_config.cp_mode: must be one of ulysses, ring, ring_zigzag"));
  EXPECT_THAT(v1_refused(shared_with("  name: fsdp2\n", "  name: fsdp3\n")),
              HasSubstr("dist_config.name: must be one of fsdp2, fsdpturbo, deepspeed"));
  EXPECT_THAT(v1_refused(shared_with("  name: fsdp2\n", "")), HasSubstr("must say name"));
}

TEST(LlamaFactoryV1, WithoutDistConfigNothingCasts) {
  std::string text = shared_with("dist_config:\n  name: fsdp2\n  dcp_path: null\n", "");
  const plan::PlannedJob planned = read_v1(text).planned;
  EXPECT_EQ(planned.job.precision, DType::kFp32);
  EXPECT_EQ(plan::sharding_letters(planned.plan.sharding), "NNN");
  text += "peft_config: {name: lora}\nglobal_batch_size: 64\n";
  const plan::PlannedJob lora = read_v1(text).planned;
  EXPECT_EQ(lora.job.precision, DType::kBf16);
  EXPECT_EQ(lora.job.sequences, 64);
  ASSERT_TRUE(lora.job.model.adapters.has_value());
  EXPECT_EQ(lora.job.model.adapters->rank, 8);
  EXPECT_EQ(lora.job.model.adapters->alpha, 16);
}

TEST(LlamaFactoryV1, ReadsAdaptersOverNarrowWeights) {
  const model::ModelArchitecture model =
      read_v1(
          shared_with("quant_config: null\n",
                      "quant_config: {name: bnb, quantization_bit: 4}\n"
                      "peft_config: {name: lora, r: 16, lora_alpha: 32, target_modules: all}\n"))
          .planned.job.model;
  ASSERT_TRUE(model.adapters.has_value());
  EXPECT_EQ(model.adapters->rank, 16);
  EXPECT_EQ(model.adapters->base, DType::kNf4);
  const ImportedPlan frozen = read_v1(shared_with(
      "quant_config: null\n", "peft_config: {name: freeze, freeze_trainable_layers: 2}\n"));
  EXPECT_THAT(frozen.report.not_read, lists("peft_config.name", SettingImpact::kYes));
}

TEST(LlamaFactoryV1, ReadsItsOptimizersAndKernels) {
  EXPECT_EQ(read_v1(shared_with("quant_config: null\n", "optim_config: {name: muon}\n"))
                .planned.job.optimizer,
            plan::Optimizer::kMuon);
  EXPECT_THAT(
      read_v1(shared_with("quant_config: null\n", "optim_config: {name: lion}\n")).report.not_read,
      lists("optim_config.name", SettingImpact::kYes));
  const ImportedPlan liger = read_v1(shared_with("  name: auto\n", "  name: liger_kernel\n"));
  EXPECT_TRUE(liger.planned.job.kernels.fused_norm);
  EXPECT_TRUE(liger.planned.job.kernels.fused_activation);
  EXPECT_FALSE(liger.planned.job.kernels.fused_loss());
}

TEST(LlamaFactoryV1, DeepSpeedHasAFileOfItsOwn) {
  const std::string text =
      shared_with("  name: fsdp2\n  dcp_path: null\n",
                  "  name: deepspeed\n  config_file: examples/ds_z3_offload_config.json\n") +
      "global_batch_size: 64\n";
  const launch_scripts::SourceFile zero{
      "ds_z3_offload_config.json",
      R"({"train_batch_size": "auto", "train_micro_batch_size_per_gpu": "auto",
      "gradient_accumulation_steps": "auto", "fp16": {"enabled": "auto"},
      "bf16": {"enabled": "auto"}, "zero_optimization": {"stage": 3,
      "offload_optimizer": {"device": "cpu"}, "offload_param": {"device": "cpu"}}})"};
  const plan::PlannedJob planned = read_v1(text, {zero}).planned;
  EXPECT_EQ(planned.job.framework.name, "deepspeed");
  EXPECT_EQ(planned.job.precision, DType::kBf16);
  EXPECT_EQ(planned.job.sequences, 64);
  EXPECT_EQ(plan::sharding_letters(planned.plan.sharding), "GGG");
  EXPECT_TRUE(planned.plan.offload.parameters);
  EXPECT_THAT(v1_refused(text),
              HasSubstr("names a configuration of DeepSpeed: give its file, too"));
}

TEST(LlamaFactoryV1, LengthsPackItsDocuments) {
  const std::string text = shared_with("cutoff_len: 4096\n",
                                       "cutoff_len: 4096\nbatching_strategy: padding_free\n"
                                       "flash_attn: flash_attention_2\n");
  EXPECT_THAT(read_v1(text).report.not_read, lists("batching_strategy", SettingImpact::kYes));
  EXPECT_THAT(v1_refused(shared_with("cutoff_len: 4096\n", "batching_strategy: packed\n")),
              HasSubstr("batching_strategy: must be one of normal, padding_free"));
}

}  // namespace
}  // namespace stepwright::framework_files
