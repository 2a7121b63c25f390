#include "stepwright/framework_files/maxtext/maxtext.h"

#include <gtest/gtest.h>

#include "stepwright/core/error.h"
#include "tests/framework_files/imported.h"

namespace stepwright::framework_files {
namespace {

TEST(MaxText, FillsOpenAxesAndKnowsModelsByName) {
  const ImportedPlan read = import_text("", "gpu.yml", R"(base_config: "base.yml"
hardware: gpu
model_name: llama3.1-70b
per_device_batch_size: 2
max_target_length: 8192
dcn_data_parallelism: -1
ici_fsdp_parallelism: -1
ici_tensor_parallelism: 4
remat_policy: save_qkv_proj
quantization: te_fp8_delayedscaling
attention: cudnn_flash_te
weight_dtype: bfloat16
)",
                                        {.cluster = "dgx-h100:4"});
  EXPECT_EQ(read.target, "maxtext");
  const auto& [job, plan] = read.planned;
  EXPECT_EQ(job.model_name, "llama-3.1-70b");
  EXPECT_EQ(plan.parallel.tensor, 4);
  EXPECT_EQ(plan.parallel.data, 8);
  // Four nodes, two ranks of fsdp in each.
  EXPECT_EQ(plan.sharding, (plan::Sharding{.parameters = plan::StateShardingScope::kInner,
                                           .gradients = plan::StateShardingScope::kInner,
                                           .optimizer = plan::StateShardingScope::kInner,
                                           .group = 2}));
  EXPECT_EQ(job.sequences, 64);
  EXPECT_EQ(job.precision, DType::kFp8);
  EXPECT_EQ(plan.recompute.kind, plan::RecomputeKind::kFull);
  EXPECT_THAT(read.report.not_read, lists("remat_policy", SettingImpact::kYes));
  EXPECT_EQ(read.planned.job.kernels.masters, plan::MasterWeights::kNone) << "weight_dtype";
}

TEST(MaxText, AxesMustFillTheDevices) {
  const auto of = [](const std::string& axes) {
    return import_text("maxtext", "a.yml",
                       "model_name: llama3-8b\nper_device_batch_size: 1\n" + axes)
        .planned.plan;
  };
  EXPECT_THROW(of("dcn_data_parallelism: 1\nici_fsdp_parallelism: 8\n"), Error);
  EXPECT_THROW(of("ici_fsdp_parallelism: -1\nici_tensor_parallelism: -1\n"), Error);
  EXPECT_THROW(of("ici_tensor_parallelism: 3\n"), Error);
  EXPECT_THROW(of("ici_tensor_parallelism: 0\n"), Error);
  EXPECT_EQ(of("dcn_fsdp_parallelism: 2\ndcn_data_parallelism: 1\n").sharding,
            plan::sharding_named_by_word("GGG").value());
}

TEST(MaxText, ReadsTheWordsOfAScript) {
  const std::string script = R"(MODEL=mixtral-8x7b
python3 -m MaxText.train src/MaxText/configs/base.yml run_name=x model_name=$MODEL \
  per_device_batch_size=4 ici_fsdp_parallelism=16 dcn_data_parallelism=1 max_target_length=4096 \
  dtype=bfloat16 remat_policy=full quantization=int8 megablox=False
)";
  const ImportedPlan read = import_text("", "train.sh", script);
  EXPECT_EQ(read.target, "maxtext");
  EXPECT_EQ(read.planned.job.model_name, "mixtral-8x7b");
  EXPECT_EQ(read.planned.job.length, 4096);
  EXPECT_EQ(read.planned.plan.sharding, plan::sharding_named_by_word("GGG").value());
  EXPECT_EQ(read.planned.plan.micro_batch, 4);
  EXPECT_THAT(read.report.not_read, lists("quantization", SettingImpact::kYes));
  EXPECT_THAT(read.report.not_read, lists("megablox", SettingImpact::kYes));
  const ImportedPlan set = import_text("", "train.sh", script,
                                       {.settings = {"MODEL=llama2-7b", "max_target_length=2048"}});
  EXPECT_EQ(set.planned.job.model_name, "llama-2-7b");
  EXPECT_EQ(set.planned.job.length, 2048);
}

TEST(MaxText, WordsStandOverTheFileThatTheScriptNames) {
  const launch_scripts::SourceFile files[] = {
      {"train.sh", "python3 MaxText/train.py gpu/llama2_7b.yml per_device_batch_size=8\n"},
      {"llama2_7b.yml",
       "model_name: llama2-7b\nper_device_batch_size: 4\nremat_policy: minimal\n"}};
  const ImportedPlan read = import_plan_files("", files, {.cluster = "dgx-h100:2"});
  EXPECT_EQ(read.planned.plan.micro_batch, 8);
  EXPECT_EQ(read.planned.plan.recompute.kind, plan::RecomputeKind::kSelective);
  EXPECT_THAT([&] { import_plan_files("", std::span(files).first(1), {.cluster = "dgx-h100:2"}); },
              testing::ThrowsMessage<Error>(testing::HasSubstr(
                  "train.sh:1: the command reads gpu/llama2_7b.yml: give this file, too")));
}

TEST(MaxText, AScriptMayWriteTheFileThatItNames) {
  const std::string script =
      "echo 'model_name: llama2-7b\nper_device_batch_size: 4' > $HOME/own.yml\n"
      "docker run image bash -c \"python3 MaxText/train.py configs/$CONFIG "
      "max_target_length=1024\"\n";
  const ImportedPlan read = import_text("", "train.sh", script, {.settings = {"CONFIG=own.yml"}});
  EXPECT_EQ(read.planned.job.model_name, "llama-2-7b");
  EXPECT_EQ(read.planned.plan.micro_batch, 4);
  EXPECT_EQ(read.planned.job.length, 1024);
  EXPECT_THAT([&] { import_text("", "train.sh", script); },
              testing::ThrowsMessage<Error>(testing::HasSubstr(
                  "give this file, too; the script does not set it: --set CONFIG=VALUE")));
}

TEST(MaxText, ReadsWhatItLogs) {
  const ImportedPlan read =
      import_text("maxtext", "run.log",
                  "I0317 pyconfig.py:413] Config param model_name: llama3-8b\n"
                  "I0317 pyconfig.py:413] Config param max_target_length: 512\n"
                  "I0317 pyconfig.py:413] Config param per_device_batch_size: 2.0\n"
                  "I0317 pyconfig.py:413] Config param remat_policy: full\n");
  EXPECT_EQ(read.planned.job.length, 512);
  EXPECT_EQ(read.planned.plan.micro_batch, 2);
  EXPECT_THAT(read.report.read, takes("model_name", "job.model"));
}

// The form of AI-Hypercomputer/maxtext MaxText/configs/v5e/64b.sh.
TEST(MaxText, AFactorOfAllSizesIsOverThoseOfTheBase) {
  const auto model = [](const std::string& words) {
    return import_text("", "run.sh",
                       "python3 MaxText/train.py MaxText/configs/base.yml per_device_batch_size=1 "
                       "max_target_length=2048 remat_policy=full " +
                           words + "\n")
        .planned.job.model;
  };
  const model::ModelArchitecture large = model("global_parameter_scale=64");
  EXPECT_EQ(large.layers, 64);
  EXPECT_EQ(large.hidden, 8192);
  EXPECT_EQ(large.heads, 64);
  EXPECT_EQ(large.ffn, 28672);
  EXPECT_EQ(model("global_parameter_scale=2").ffn, 14336);
  EXPECT_EQ(model("base_emb_dim=4096").head_dim, 128);
  EXPECT_THAT([&] { model("global_parameter_scale=3"); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("must be a power of two")));
}

}  // namespace
}  // namespace stepwright::framework_files
