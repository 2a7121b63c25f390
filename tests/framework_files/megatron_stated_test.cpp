#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "stepwright/core/error.h"
#include "stepwright/framework_files/launch_file.h"
#include "stepwright/framework_files/megatron/stated.h"
#include "stepwright/schedule/placement.h"
#include "tests/folder.h"
#include "tests/framework_files/imported.h"

namespace stepwright::framework_files {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;

/// Returns the block of arguments that Megatron-LM prints for a run of Llama 3 8B, each line after
/// `prefix`.
std::string printed(const std::string& prefix) {
  static constexpr std::pair<const char*, const char*> kValues[] = {
      {"account_for_embedding_in_pipeline_split", "False"},
      {"add_bias_linear", "False"},
      {"add_qkv_bias", "False"},
      {"attention_backend", "AttnBackend.flash"},
      {"attention_dropout", "0.0"},
      {"bf16", "True"},
      {"bias_gelu_fusion", "False"},
      {"cp_comm_type", "['p2p']"},
      {"cuda_graph_scope", "[]"},
      {"data_parallel_size", "4"},
      {"encoder_num_layers", "32"},
      {"exp_avg_dtype", "torch.float32"},
      {"ffn_hidden_size", "14336"},
      {"fp8", "None"},
      {"global_batch_size", "128"},
      {"gradient_accumulation_fusion", "False"},
      {"group_query_attention", "True"},
      {"hidden_dropout", "0.0"},
      {"hidden_size", "4096"},
      {"kv_channels", "128"},
      {"layernorm_epsilon", "1e-05"},
      {"max_position_embeddings", "8192"},
      {"micro_batch_size", "1"},
      {"normalization", "RMSNorm"},
      {"num_attention_heads", "32"},
      {"num_layers", "32"},
      {"num_query_groups", "8"},
      {"our_option", "7"},
      {"overlap_p2p_comm", "False"},
      {"padded_vocab_size", "128256"},
      {"perform_initialization", "True"},
      {"pipeline_model_parallel_size", "4"},
      {"position_embedding_type", "rope"},
      {"rotary_base", "500000"},
      {"seq_length", "8192"},
      {"sequence_parallel", "True"},
      {"swiglu", "True"},
      {"tensor_model_parallel_size", "2"},
      {"torch_fsdp2_reshard_after_forward", "True"},
      {"untie_embeddings_and_output_weights", "True"},
      {"use_distributed_optimizer", "False"},
      {"vocab_size", "None"},
      {"world_size", "32"}};
  std::string text = prefix + "using world size: 32\n" + prefix +
                     "------------------------ arguments ------------------------\n";
  for (const auto& [name, value] : kValues) {
    const std::string dots(48 - std::string_view(name).size(), '.');
    text += fmt::format("{}  {} {} {}\n", prefix, name, dots, value);
    text += "3: another rank says ... something\n";
  }
  return text + prefix + "-------------------- end of arguments ---------------------\n";
}

ImportedPlan imported_file(const std::string& text, const std::string& cluster) {
  UserFacts given;
  given.cluster = cluster;
  const launch_scripts::SourceFile file{"run.log", text};
  return import_plan_files("", {&file, 1}, given);
}

class PrintedArguments : public ::testing::TestWithParam<const char*> {};

TEST_P(PrintedArguments, AreReadWhole) {
  const ImportedPlan plan = imported_file(printed(GetParam()), "dgx-h100");
  EXPECT_EQ(plan.target, "megatron");
  EXPECT_EQ(plan.planned.job.model_name, "llama-3-8b");
  EXPECT_EQ(plan.planned.plan.parallel.tensor, 2);
  EXPECT_EQ(plan.planned.plan.parallel.pipeline, 4);
  EXPECT_EQ(plan.planned.plan.parallel.data, 4);
  EXPECT_EQ(plan.planned.job.sequences, 128);
  EXPECT_TRUE(plan.planned.plan.sequence_parallel);
  EXPECT_EQ(plan.planned.job.kernels.attention, cluster::AttentionKernel::kFlash2);
  EXPECT_FALSE(plan.planned.job.kernels.fused_accumulation);
}

INSTANTIATE_TEST_SUITE_P(Prefixes, PrintedArguments,
                         ::testing::Values("", "0: ", "[default0]:", "2026-08-01 10:11:12 0: "));

TEST(StatedMegatronArguments, WhatIsAsMegatronHasItIsReadToo) {
  const ImportedPlan plan = imported_file(printed("0: "), "dgx-h100");
  EXPECT_THAT(
      plan.report.read,
      Contains(AllOf(Field(&ImportedSetting::name, "use_distributed_optimizer"),
                     Field(&ImportedSetting::value, "False"), Field(&ImportedSetting::line, 83))));
  EXPECT_THAT(plan.report.read,
              Contains(AllOf(Field(&ImportedSetting::name, "tensor_model_parallel_size"),
                             Field(&ImportedSetting::field, "parallel.tensor"))));
  EXPECT_THAT(plan.report.assumed,
              Not(Contains(Field(&AssumedPlanField::field, "sharding.states"))));
  ASSERT_EQ(plan.report.not_read.size(), 1U);
  EXPECT_EQ(plan.report.not_read.front().name, "our_option");
  EXPECT_EQ(plan.report.not_read.front().matters, SettingImpact::kMaybe);
}

TEST(StatedMegatronArguments, OfATestOfMegatronAreRead) {
  const ImportedPlan plan = imported_file(R"(ENV_VARS:
  CUDA_DEVICE_MAX_CONNECTIONS: 1
  NCCL_ALGO: Ring
MODEL_ARGS:
  --num-layers: 12
  --hidden-size: 512
  --num-attention-heads: 8
  --seq-length: 1024
  --micro-batch-size: 4
  --global-batch-size: 32
  --data-path: ${DATA_PATH}/text/the_pile
  --tensor-model-parallel-size: 2
  --sequence-parallel: false
  --recompute-granularity: selective
  --recompute-modules: "[layernorm mlp]"
  --bf16: true
  --moe-layer-freq: ([0]*3+[1]*9)
TEST_TYPE: regular
)",
                                          "dgx-h100:1");
  EXPECT_EQ(plan.planned.plan.parallel.tensor, 2);
  EXPECT_FALSE(plan.planned.plan.sequence_parallel);
  EXPECT_EQ(plan.planned.job.precision, DType::kBf16);
  EXPECT_EQ(plan.planned.plan.recompute.modules,
            (plan::RecomputeModuleSet{plan::RecomputeModule::kNorm, plan::RecomputeModule::kMlp}));
  EXPECT_EQ(plan.planned.job.model.vocabulary, 50'257);
  EXPECT_THAT(plan.report.read, Contains(AllOf(Field(&ImportedSetting::name, "--num-layers"),
                                               Field(&ImportedSetting::line, 5))));
  EXPECT_THAT(plan.report.not_read,
              Contains(AllOf(Field(&SettingNotInPlan::name, "NCCL_ALGO"),
                             Field(&SettingNotInPlan::matters, SettingImpact::kYes))));
}

TEST(StatedMegatronArguments, ABlockWithoutThemIsRefused) {
  try {
    imported_file("------------------------ arguments ------------------------\nnothing\n",
                  "dgx-h100");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("no lines 'name ..... value'"));
  }
}

/// A model_config.yaml with variables instead of degrees.
constexpr const char* kOpenConfig = R"(MODEL_ARGS:
  --num-layers: 14
  --hidden-size: 512
  --num-attention-heads: 8
  --seq-length: 1024
  --micro-batch-size: 1
  --global-batch-size: 32
  --tensor-model-parallel-size: ${TP}
  --pipeline-model-parallel-size: 2
  --num-layers-per-virtual-pipeline-stage: 4
  --account-for-embedding-in-pipeline-split: true
  --account-for-loss-in-pipeline-split: true
  --sequence-parallel: ${SP}
  --position-embedding-type: rope
  --rotary-seq-len-interpolation-factor: 1
  --tokenizer-model: ${DATA}/tokenizer.model
  --bf16: true
)";

TEST(StatedMegatronArguments, TakeTheVariablesThatAPersonGives) {
  UserFacts given{.settings = {"TP=4", "SP=false"}};
  const ImportedPlan plan = import_text("megatron", "model_config.yaml", kOpenConfig, given);
  EXPECT_EQ(plan.planned.plan.parallel.tensor, 4);
  EXPECT_FALSE(plan.planned.plan.sequence_parallel);
  EXPECT_FALSE(plan.planned.job.model.rotary_scaling.has_value());
  // Embedding and loss count as layers of the sixteen that four chunks share.
  EXPECT_EQ(plan.planned.plan.schedule.chunks, 2);
  EXPECT_EQ(plan::layers_per_chunk(plan.planned.job, plan.planned.plan),
            (std::vector<std::int64_t>{3, 4, 4, 3}));
  given.settings.pop_back();
  try {
    import_text("megatron", "model_config.yaml", kOpenConfig, given);
    FAIL() << "an open switch was read";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("sequence-parallel"), HasSubstr("--set SP=VALUE")));
  }
}

TEST(StatedMegatronArguments, ALogMayBeLargerThanAScript) {
  const Folder folder;
  const std::filesystem::path path = folder / "stated.log";
  const auto read = [&](const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
    return read_text_file(path).size();
  };
  const std::string filling((1 << 20) + 1, '\n');
  const std::string log = printed("") + filling;
  EXPECT_EQ(read(log), log.size());
  EXPECT_THROW(read(filling), Error);
  EXPECT_THROW(read(printed("") + std::string(64 << 20, '\n')), Error);
}

}  // namespace
}  // namespace stepwright::framework_files
