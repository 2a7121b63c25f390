#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "imported.h"
#include "stepwright/core/error.h"
#include "stepwright/framework_files/launch_file.h"

namespace stepwright::framework_files {
namespace {

using testing::HasSubstr;

/// Returns a shortened form of NVIDIA/NeMo-Framework-Launcher launcher_scripts/conf/training/llama.
/// `model` replaces lines of the model with the same key; `optimizer` is put below `optim`.
std::string nemo1_text(const std::string& model = "", const std::string& optimizer = "",
                       const std::string& precision = "bf16") {
  return "run:\n  name: llama\n  results_dir: ${base_results_dir}/${.name}\n"
         "trainer:\n  num_nodes: 16\n  devices: 8\n  max_steps: 300000\n  precision: " +
         precision +
         "\nmodel:\n  mcore_gpt: true\n  micro_batch_size: 1\n  global_batch_size: 256\n"
         "  tensor_model_parallel_size: 4\n  pipeline_model_parallel_size: 4\n"
         "  virtual_pipeline_model_parallel_size: 5\n  context_parallel_size: 2\n"
         "  encoder_seq_length: 8192\n  max_position_embeddings: ${.encoder_seq_length}\n"
         "  num_layers: 80\n  hidden_size: 8192\n  ffn_hidden_size: ${multiply:4, "
         "${.hidden_size}}\n"
         "  num_attention_heads: 64\n  num_query_groups: 8\n  hidden_dropout: 0.0\n"
         "  attention_dropout: 0.0\n  normalization: rmsnorm\n  bias: false\n"
         "  activation: fast-swiglu\n  position_embedding_type: rope\n"
         "  share_embeddings_and_output_weights: false\n  transformer_engine: true\n"
         "  gradient_accumulation_fusion: true\n  megatron_amp_O2: true\n  sequence_parallel: "
         "true\n"
         "  tokenizer:\n    library: huggingface\n    type: meta-llama/Meta-Llama-3.1-70B\n" +
         model + "  optim:\n    name: distributed_fused_adam\n    overlap_param_sync: true\n" +
         optimizer + "  data:\n    seq_length: 8192\n";
}

ImportedPlan nemo1(const std::string& text, UserFacts given = {.cluster = "dgx-h100"}) {
  return import_text("", "llama.yaml", text, std::move(given));
}

std::string nemo1_refusal(const std::string& text) {
  try {
    nemo1(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Nemo1, FunctionsOfTheLauncherAreRead) {
  const auto ffn = [](const std::string& value) {
    std::string text = nemo1_text();
    const std::string line = "ffn_hidden_size: ${multiply:4, ${.hidden_size}}";
    text.replace(text.find(line), line.size(), "ffn_hidden_size: " + value);
    return nemo1(text).planned.job.model.ffn;
  };
  EXPECT_EQ(ffn("${multiply:${multiply:2, ${.hidden_size}}, 3}"), 6 * 8192);
  EXPECT_EQ(ffn("${divide_ceil:32765, 4}"), 8192);
  EXPECT_EQ(ffn("${divide_floor:${.hidden_size}, 4}"), 2048);
}

TEST(Nemo1, ReadsAPipelineOfLlama) {
  const ImportedPlan read = nemo1(nemo1_text());
  EXPECT_EQ(read.target, "nemo1");
  const auto& [job, plan] = read.planned;
  EXPECT_EQ(job.framework.name, "nemo");
  EXPECT_EQ(job.cluster.nodes, 16);
  EXPECT_EQ(job.sequences, 256);
  EXPECT_EQ(job.length, 8192);
  EXPECT_EQ(job.precision, DType::kBf16);
  EXPECT_EQ(job.model.layers, 80);
  EXPECT_EQ(job.model.ffn, 4 * 8192);
  EXPECT_EQ(job.model.vocabulary, 128256);
  EXPECT_TRUE(job.model.gated);
  EXPECT_FALSE(job.model.tied);
  EXPECT_EQ(job.model.norm, model::Norm::kRms);
  EXPECT_EQ(plan.parallel.tensor, 4);
  EXPECT_EQ(plan.parallel.pipeline, 4);
  EXPECT_EQ(plan.parallel.context, 2);
  EXPECT_EQ(plan.parallel.data, 4);
  EXPECT_EQ(plan.schedule.chunks, 5);
  EXPECT_TRUE(plan.sequence_parallel);
  EXPECT_EQ(plan.sharding, plan::sharding_named_by_word("NNG").value());
  EXPECT_TRUE(plan.overlap.gradients);
  EXPECT_TRUE(plan.overlap.parameters);
  // The default of NeMo, which has it on in Megatron-LM.
  EXPECT_FALSE(plan.overlap.pipeline);
}

TEST(Nemo1, GradientsTravelInTheTypeAndBucketsOfTheOptimizer) {
  const plan::Plan narrow =
      nemo1(nemo1_text("", "    grad_sync_dtype: bf16\n    bucket_cap_mb: 125\n")).planned.plan;
  EXPECT_EQ(narrow.accumulate, DType::kBf16);
  EXPECT_EQ(narrow.gradient_bucket, 125 * 1024 * 1024 / 2);
  const plan::Plan wide = nemo1(nemo1_text()).planned.plan;
  EXPECT_EQ(wide.accumulate, DType::kFp32);
  EXPECT_EQ(wide.gradient_bucket, 100 * 1024 * 1024 / 4);
}

TEST(Nemo1, SaysWhereParametersAreInFp32) {
  std::string text = nemo1_text();
  text.replace(text.find("megatron_amp_O2: true"), 21, "megatron_amp_O2: false");
  const ImportReport report = nemo1(text).report;
  EXPECT_THAT(report.not_read, lists("trainer.precision", SettingImpact::kYes));
}

TEST(Nemo1, ReadsRecomputationAndFp8) {
  const auto& [job, plan] =
      nemo1(nemo1_text("  activations_checkpoint_granularity: full\n"
                       "  activations_checkpoint_method: uniform\n"
                       "  activations_checkpoint_num_layers: 1\n  fp8: true\n  fp8_hybrid: true\n"))
          .planned;
  EXPECT_EQ(plan.recompute.kind, plan::RecomputeKind::kFull);
  EXPECT_EQ(job.precision, DType::kFp8);
}

TEST(Nemo1, DefersTheHeadsGradientsOfAllMicroBatchesWithoutALimit) {
  const plan::Plan plan = nemo1(nemo1_text("  defer_embedding_wgrad_compute: true\n")).planned.plan;
  EXPECT_TRUE(plan.overlap.defer_embedding_gradient);
}

TEST(Nemo1, OverridesOfACommandStandOverTheFile) {
  const std::string script =
      "#!/bin/bash\npython examples/nlp/language_modeling/our_megatron_gpt_pretraining.py "
      "--config-path=conf --config-name=llama trainer.num_nodes=32 "
      "++model.global_batch_size=512 model.tensor_model_parallel_size=8\n";
  const launch_scripts::SourceFile files[] = {{"run.sh", script}, {"llama.yaml", nemo1_text()}};
  const ImportedPlan read = import_plan_files("", files, {.cluster = "dgx-h100"});
  EXPECT_EQ(read.planned.job.cluster.nodes, 32);
  EXPECT_EQ(read.planned.job.sequences, 512);
  EXPECT_EQ(read.planned.plan.parallel.tensor, 8);
}

TEST(Nemo1, RefusesWhatNoPlanHas) {
  EXPECT_THAT(nemo1_refusal(nemo1_text("  fsdp: true\n")), HasSubstr("model.fsdp"));
  EXPECT_THAT(nemo1_refusal(nemo1_text("  peft:\n    peft_scheme: lora\n")),
              HasSubstr("model.peft.peft_scheme"));
  std::string text = nemo1_text();
  text.replace(text.find("fast-swiglu"), 11, "fast-reglu");
  EXPECT_THAT(nemo1_refusal(text), HasSubstr("llama.yaml:28:1: model.activation"));
  text = nemo1_text();
  text.replace(text.find("distributed_fused_adam"), 22, "adagrad");
  EXPECT_THAT(nemo1_refusal(text), HasSubstr("model.optim.name"));
}

}  // namespace
}  // namespace stepwright::framework_files
