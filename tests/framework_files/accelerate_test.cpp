#include "stepwright/framework_files/huggingface/accelerate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/framework_files/launch_file.h"

namespace stepwright::framework_files {
namespace {

ImportedPlan launched(std::vector<launch_scripts::SourceFile> files) {
  UserFacts given;
  given.cluster = "dgx-h100:2";
  given.model = "llama-3-8b";
  given.batch = "128x4096";
  return import_plan_files("", files, given);
}

launch_scripts::SourceFile launch(const std::string& type, const std::string& lines) {
  return {"launch.yaml", "distributed_type: " + type +
                             "\nnum_machines: 2\nnum_processes: 16\nmixed_precision: bf16\n" +
                             lines};
}

TEST(Accelerate, ReadsTheStrategiesOfBothVersionsOfFsdp) {
  const auto sharding = [](const std::string& section) {
    return plan::sharding_letters(
        launched({launch("FSDP", "fsdp_config: {" + section + "}\n")}).planned.plan.sharding);
  };
  EXPECT_EQ(sharding("fsdp_sharding_strategy: FULL_SHARD"), "GGG");
  EXPECT_EQ(sharding("fsdp_sharding_strategy: 2"), "NGG");
  EXPECT_EQ(sharding("fsdp_sharding_strategy: NO_SHARD"), "NNN");
  EXPECT_EQ(sharding("fsdp_sharding_strategy: HYBRID_SHARD_ZERO2"), "NII");
  EXPECT_EQ(sharding("fsdp_version: 2, fsdp_reshard_after_forward: false"), "NGG");
}

TEST(Accelerate, WithoutADistributedTypeOneProcessStarts) {
  UserFacts given;
  given.cluster = "dgx-h100";
  given.model = "llama-3-8b";
  given.batch = "4x4096";
  const launch_scripts::SourceFile file = launch("'NO'", "");
  const plan::PlannedJob planned = import_plan_files("", {&file, 1}, given).planned;
  EXPECT_EQ(planned.job.cluster.devices(), 1);
  EXPECT_EQ(planned.plan.parallel.data, 1);
}

TEST(Accelerate, ReadsPrecisionInEitherCase) {
  launch_scripts::SourceFile file = launch("FSDP", "fsdp_config: {fsdp_version: 2}\n");
  file.text.replace(file.text.find(": bf16"), 6, ": BF16");
  EXPECT_EQ(launched({file}).planned.job.precision, DType::kBf16);
}

TEST(Accelerate, DegreesThatAreNotItsProcessesAreRefused) {
  try {
    launched({launch("FSDP",
                     "parallelism_config: {parallelism_config_dp_shard_size: 4, "
                     "parallelism_config_tp_size: 2}\n")});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_THAT(error.what(), testing::HasSubstr("1 (replicate) x 4 (share) must be 8, the data"));
  }
}

TEST(Accelerate, ReadsMegatronInsideIt) {
  const plan::Plan plan =
      launched({launch("MEGATRON_LM",
                       "megatron_lm_config: {megatron_lm_tp_degree: 2, megatron_lm_pp_degree: 4, "
                       "megatron_lm_num_micro_batches: 64, megatron_lm_sequence_parallelism: true, "
                       "megatron_lm_recompute_activations: true, "
                       "megatron_lm_use_distributed_optimizer: true}\n")})
          .planned.plan;
  EXPECT_EQ(plan.parallel.tensor, 2);
  EXPECT_EQ(plan.parallel.pipeline, 4);
  EXPECT_TRUE(plan.sequence_parallel);
  EXPECT_EQ(plan.recompute.kind, plan::RecomputeKind::kSelective);
  EXPECT_EQ(plan::sharding_letters(plan.sharding), "NNG");
}

TEST(Accelerate, CompilersAndAutocastAreLeftOutUnlessTheyAreOff) {
  const auto matters = [](const ImportReport& report, std::string_view name) {
    return std::ranges::any_of(report.not_read, [&](const SettingNotInPlan& one) {
      return one.name == name && one.matters == SettingImpact::kYes;
    });
  };
  const auto compiled = [&](const std::string& backend) {
    const ImportReport report =
        launched({launch("FSDP", "dynamo_config: {dynamo_backend: " + backend + "}\n")}).report;
    return matters(report, "dynamo_config.dynamo_backend");
  };
  EXPECT_TRUE(compiled("INDUCTOR"));
  EXPECT_FALSE(compiled("'NO'"));
  const launch_scripts::SourceFile zero{"ds.json", R"({"train_micro_batch_size_per_gpu": 2,
    "zero_optimization": {"stage": 2}, "torch_autocast": {"enabled": true},
    "elasticity": {"enabled": false}, "compile": {"deepcompile": true}})"};
  const ImportReport report =
      launched({launch("DEEPSPEED", "deepspeed_config: {deepspeed_config_file: ds.json}\n"), zero})
          .report;
  EXPECT_TRUE(matters(report, "torch_autocast.enabled"));
  EXPECT_TRUE(matters(report, "compile.deepcompile"));
  EXPECT_FALSE(matters(report, "elasticity.enabled"));
}

TEST(Accelerate, ItsPrecisionFillsDeepSpeeds) {
  const launch_scripts::SourceFile zero{
      "ds.json", R"({"fp16": {"enabled": "auto"}, "bf16": {"enabled": "auto"},
    "train_micro_batch_size_per_gpu": 2, "zero_optimization": {"stage": 2}})"};
  const plan::PlannedJob planned =
      launched({launch("DEEPSPEED", "deepspeed_config: {deepspeed_config_file: ds.json}\n"), zero})
          .planned;
  EXPECT_EQ(planned.job.precision, DType::kBf16);
  EXPECT_EQ(planned.plan.micro_batch, 2);
  EXPECT_EQ(plan::sharding_letters(planned.plan.sharding), "NGG");
}

TEST(DeepSpeed, ReadsTheConfigurationThatALogHas) {
  const launch_scripts::SourceFile log{
      "train.log", R"([INFO] [config.py:1001:print] DeepSpeedEngine configuration:
[INFO] [config.py:1005:print]   zero_enabled ................. True
[INFO] [config.py:991:print_user_config]   json = {
    "train_micro_batch_size_per_gpu": 2,
    "note": "a } in a text",
    "zero_optimization": {
        "stage": 1,
        "reduce_bucket_size": 5.000000e+08
    },
    "bf16": {
        "enabled": true
    }
}
step 1 {loss: 3}
)"};
  const ImportedPlan plan = launched({log});
  EXPECT_EQ(plan.target, "deepspeed");
  EXPECT_EQ(plan::sharding_letters(plan.planned.plan.sharding), "NNG");
  EXPECT_EQ(plan.planned.plan.gradient_bucket, 500'000'000);
  const auto stage =
      std::ranges::find(plan.report.read, "zero_optimization.stage", &ImportedSetting::name);
  ASSERT_NE(stage, plan.report.read.end());
  EXPECT_EQ(stage->line, 7U);
}

TEST(DeepSpeed, EachAutoIsSaidToBeAssumed) {
  const launch_scripts::SourceFile zero{"ds.json", R"({"train_micro_batch_size_per_gpu": "auto",
    "bf16": {"enabled": "auto"},
    "zero_optimization": {"stage": 3, "reduce_bucket_size": "auto"}})"};
  const ImportReport report = launched({zero}).report;
  const auto why = [&](std::string_view field) {
    for (const AssumedPlanField& one : report.assumed) {
      if (one.field == field) return one.why;
    }
    return std::string();
  };
  EXPECT_EQ(why("job.precision"), "auto (ds.json:2): taken as bf16");
  EXPECT_THAT(why("buckets.gradients"), testing::HasSubstr("auto (ds.json:3)"));
  EXPECT_THAT(why("micro_batch"), testing::Not(testing::IsEmpty()));
}

TEST(Accelerate, LayersThatNothingWrapsAreSaid) {
  const auto unread = [](const std::string& section) {
    return launched({launch("FSDP", "fsdp_config: {" + section + "}\n")}).report.not_read;
  };
  const auto said = testing::Contains(
      testing::AllOf(testing::Field(&SettingNotInPlan::name, "fsdp_config.fsdp_auto_wrap_policy"),
                     testing::Field(&SettingNotInPlan::matters, SettingImpact::kYes)));
  EXPECT_THAT(unread("sharding_strategy: FULL_SHARD"), said);
  EXPECT_THAT(unread("fsdp_sharding_strategy: 1, fsdp_auto_wrap_policy: NO_WRAP"), said);
  EXPECT_THAT(unread("fsdp_sharding_strategy: 1, fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP"),
              testing::Not(said));
}

}  // namespace
}  // namespace stepwright::framework_files
