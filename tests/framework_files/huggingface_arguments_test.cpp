#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/framework_files/launch_file.h"
#include "stepwright/framework_files/targets/code.h"
#include "tests/framework_files/imported.h"

namespace stepwright::framework_files {
namespace {

const launch_scripts::SourceFile kModel{"config.json",
                                        R"({"model_type": "llama", "hidden_size": 4096,
  "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32,
  "num_key_value_heads": 8, "vocab_size": 128256, "rope_theta": 500000.0,
  "max_position_embeddings": 8192, "rms_norm_eps": 1e-5})"};
const launch_scripts::SourceFile kArguments{
    "args.yaml",
    "per_device_train_batch_size: 2\ngradient_accumulation_steps: 4\n"
    "bf16: true\nfsdp: full_shard auto_wrap\n"
    "gradient_checkpointing: true\nmax_length: 4096\n"};
const launch_scripts::SourceFile kDeepSpeed{"ds.json", R"({"train_micro_batch_size_per_gpu": "auto",
  "zero_optimization": {"stage": 2}, "bf16": {"enabled": true}})"};

plan::PlannedJob read(std::vector<launch_scripts::SourceFile> files) {
  UserFacts given;
  given.cluster = "dgx-h100:2";
  given.batch = "128x4096";
  return import_plan_files("hf", files, given).planned;
}

TEST(HuggingFaceArguments, ReadsModelAndTraining) {
  const plan::PlannedJob planned = read({kModel, kArguments});
  EXPECT_EQ(planned.job.model_name, "llama-3-8b");
  EXPECT_EQ(planned.plan.parallel.data, 16);
  EXPECT_EQ(planned.plan.micro_batch, 2);
  EXPECT_EQ(plan::sharding_letters(planned.plan.sharding), "GGG");
  EXPECT_EQ(planned.plan.recompute.kind, plan::RecomputeKind::kFull);
  EXPECT_EQ(planned.plan.accumulate, DType::kBf16);
}

TEST(HuggingFaceArguments, ReadsTheDeepSpeedFileBesideThem) {
  launch_scripts::SourceFile arguments = kArguments;
  arguments.text =
      "per_device_train_batch_size: 2\ngradient_accumulation_steps: 4\nbf16: true\n"
      "deepspeed: ds.json\n";
  const plan::PlannedJob planned = read({arguments, kDeepSpeed, kModel});
  EXPECT_EQ(plan::sharding_letters(planned.plan.sharding), "NGG");
  EXPECT_EQ(planned.plan.micro_batch, 2);
  EXPECT_EQ(planned.job.framework.name, "deepspeed");
  EXPECT_THROW(read({arguments, kModel}), Error);
}

ImportedPlan read_files(std::vector<launch_scripts::SourceFile> files,
                        std::string batch = "128x4096") {
  UserFacts given;
  given.cluster = "dgx-h100:2";
  given.batch = std::move(batch);
  return import_plan_files("", files, given);
}

TEST(HuggingFaceArguments, TakesTheFileThatFsdpConfigNames) {
  const launch_scripts::SourceFile arguments{
      "args.json",
      R"({"per_device_train_batch_size": 2, "output_dir": "out",
    "gradient_accumulation_steps": 4, "bf16": true, "fsdp": "full_shard",
    "fsdp_config": "fsdp.json"})"};
  const launch_scripts::SourceFile named{"fsdp.json",
                                         R"({"fsdp_version": 2, "reshard_after_forward": false,
    "transformer_layer_cls_to_wrap": ["LlamaDecoderLayer"], "activation_checkpointing": true})"};
  const plan::PlannedJob planned = read({arguments, named, kModel});
  EXPECT_EQ(plan::sharding_letters(planned.plan.sharding), "NGG");
  EXPECT_EQ(planned.plan.recompute.kind, plan::RecomputeKind::kFull);
  try {
    read({arguments, kModel});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("fsdp_config: names a file: also give this file"));
  }
}

TEST(HuggingFaceArguments, OptimizersOfDeepSpeedAreTheNearestThatAJobHas) {
  const auto with = [](const std::string& type) {
    launch_scripts::SourceFile file = kDeepSpeed;
    file.text.insert(
        1, R"("gradient_accumulation_steps": 4, "optimizer": {"type": ")" + type + R"("}, )");
    file.text.replace(file.text.find("\"auto\""), 6, "2");
    UserFacts given;
    given.cluster = "dgx-h100:2";
    given.model = "llama-3-8b";
    given.batch = "128x4096";
    return import_plan_files("deepspeed", {&file, 1}, given);
  };
  EXPECT_EQ(with("FusedAdam").planned.job.optimizer, plan::Optimizer::kAdamW);
  EXPECT_THAT(with("Adam").report.read, takes("optimizer.type", "job.optimizer"));
  EXPECT_EQ(with("OneBitAdam").planned.job.optimizer, plan::Optimizer::kAdam);
  EXPECT_THAT(with("OneBitAdam").report.not_read, lists("optimizer.type", SettingImpact::kYes));
  EXPECT_EQ(with("Lion").planned.job.optimizer, plan::Optimizer::kAdamW);
  EXPECT_THAT(with("RMSprop").report.not_read, lists("optimizer.type", SettingImpact::kYes));
}

std::string refusal(std::vector<launch_scripts::SourceFile> files) {
  try {
    read_files(std::move(files));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    return error.what();
  }
  return "";
}

launch_scripts::SourceFile arguments_with(const std::string& lines) {
  return {"args.yaml",
          "per_device_train_batch_size: 2\ngradient_accumulation_steps: 4\nbf16: true\n" + lines};
}

std::string unread_why(const ImportReport& report, const std::string& name) {
  for (const SettingNotInPlan& one : report.not_read) {
    if (one.name == name && one.matters == SettingImpact::kYes) return one.why;
  }
  return "";
}

TEST(HuggingFaceArguments, AutoOfDeepSpeedIsWhatTheTrainerFillsIn) {
  const launch_scripts::SourceFile zero{"ds.json",
                                        R"({"train_batch_size": "auto", "bf16": {"enabled": "auto"},
    "train_micro_batch_size_per_gpu": "auto", "gradient_accumulation_steps": "auto",
    "zero_optimization": {"stage": 3, "reduce_bucket_size": "auto",
      "stage3_prefetch_bucket_size": "auto"}})"};
  const ImportedPlan plan = read_files({arguments_with("deepspeed: ds.json\n"), zero, kModel});
  EXPECT_EQ(plan.target, "hf");
  EXPECT_EQ(plan.planned.plan.micro_batch, 2);
  EXPECT_EQ(plan.planned.job.sequences, 2 * 4 * 16);
  EXPECT_EQ(plan.planned.job.precision, DType::kBf16);
  EXPECT_EQ(plan.planned.plan.gradient_bucket, 4096 * 4096);
  EXPECT_EQ(plan.planned.plan.parameter_bucket, 4096 * 4096 * 9 / 10);
  for (const ImportedSetting& one : plan.report.read) EXPECT_NE(one.value, "auto") << one.name;
}

TEST(HuggingFaceArguments, DeepSpeedInsideThemIsReadToo) {
  const plan::PlannedJob planned =
      read_files({arguments_with("deepspeed: {zero_optimization: {stage: 2}}\n"), kModel}).planned;
  EXPECT_EQ(plan::sharding_letters(planned.plan.sharding), "NGG");
  EXPECT_EQ(planned.job.precision, DType::kBf16);
}

TEST(HuggingFaceArguments, WhatDoesNotStartIsRefused) {
  const launch_scripts::SourceFile other{"ds.json", R"({"train_micro_batch_size_per_gpu": 4,
    "zero_optimization": {"stage": 2}})"};
  EXPECT_THAT(
      refusal({arguments_with("deepspeed: ds.json\n"), other, kModel}),
      testing::HasSubstr("ds.json:1: train_micro_batch_size_per_gpu is 4, but the trainer's"));
  EXPECT_THAT(refusal({arguments_with("deepspeed: args.yaml\n"), kModel}),
              testing::HasSubstr("names this file itself"));
  EXPECT_THAT(refusal({arguments_with("deepspeed: ds.json\n"), kModel}),
              testing::HasSubstr("give its file, too"));
}

TEST(HuggingFaceArguments, FsdpIsATextAListOrATruth) {
  const auto states = [](const std::string& lines) {
    return plan::sharding_letters(
        read_files({arguments_with(lines), kModel}).planned.plan.sharding);
  };
  EXPECT_EQ(states("fsdp: [full_shard, auto_wrap]\n"), "GGG");
  EXPECT_EQ(states("fsdp: shard_grad_op auto_wrap\n"), "NGG");
  EXPECT_EQ(states("fsdp: true\nfsdp_config: {version: 2, reshard_after_forward: false}\n"), "NGG");
  EXPECT_EQ(states("fsdp: hybrid_shard\n"), "III");
  EXPECT_EQ(states("fsdp: false\n"), "NNN");
  EXPECT_THAT(refusal({arguments_with("fsdp: full\n"), kModel}),
              testing::HasSubstr("args.yaml:4:7: fsdp: must be true, false, full_shard"));
  const plan::PlannedJob planned =
      read_files(
          {arguments_with("fsdp: true\nfsdp_config: {activation_checkpointing: true}\n"), kModel})
          .planned;
  EXPECT_EQ(planned.plan.recompute.kind, plan::RecomputeKind::kFull);
}

// The forms of haotian-liu/LLaVA scripts/v1_5/finetune_lora.sh and QwenLM/Qwen finetune.
TEST(HuggingFaceArguments, ScriptsSwitchAdaptersOnUnderNamesOfTheirOwn) {
  const auto script = [](const std::string& words) {
    const launch_scripts::SourceFile file{
        "train.sh",
        "accelerate launch --config_file /dev/null --num_processes 8 train_mem.py "
        "--model_name_or_path meta-llama/Llama-2-7b-hf --bf16 True "
        "--model_max_length 2048 --per_device_train_batch_size 4 " +
            words + "\n"};
    return import_plan_files("", {&file, 1}, {.cluster = "dgx-h100"});
  };
  const auto adapters = script("--lora_enable True --lora_r 128").planned.job.model.adapters;
  ASSERT_TRUE(adapters.has_value());
  EXPECT_EQ(adapters->rank, 128);
  EXPECT_EQ(script("--use_lora").planned.job.model.adapters->rank, 64);
  EXPECT_FALSE(script("--use_lora False").planned.job.model.adapters.has_value());
  const ImportedPlan open = script("--lora_r 8 --tune_mm_mlp_adapter True --freeze_llm False");
  EXPECT_FALSE(open.planned.job.model.adapters.has_value());
  EXPECT_THAT(open.report.not_read, lists("lora_r", SettingImpact::kYes));
  EXPECT_THAT(open.report.not_read, lists("tune_mm_mlp_adapter", SettingImpact::kYes));
  EXPECT_THAT(open.report.not_read, testing::Not(lists("freeze_llm", SettingImpact::kYes)));
}

TEST(HuggingFaceArguments, WhatNoPlanSaysIsNamedWithWhatItLeavesOut) {
  const ImportedPlan imported =
      read_files({arguments_with("optim: paged_adamw_8bit\nuse_peft: true\ntorch_compile: true\n"
                                 "fsdp: full_shard offload\nour_own: 3\n"),
                  kModel});
  const ImportReport& report = imported.report;
  EXPECT_THAT(unread_why(report, "optim"), testing::HasSubstr("paging"));
  EXPECT_TRUE(imported.planned.job.model.adapters.has_value());
  EXPECT_THAT(unread_why(report, "torch_compile"), testing::HasSubstr("compiled"));
  EXPECT_THAT(unread_why(report, "fsdp"), testing::HasSubstr("of adam8bit"));
}

TEST(HuggingFaceArguments, TheModelIsNamedAsOnTheHub) {
  const plan::PlannedJob planned =
      read_files({arguments_with("model_name_or_path: Qwen/Qwen3-8B\n")}).planned;
  EXPECT_EQ(planned.job.model_name, "qwen3-8b");
  EXPECT_THAT(refusal({arguments_with("model_name_or_path: nobody/secret-9b\n")}),
              testing::HasSubstr("--model CONFIG.JSON"));
}

TEST(HuggingFaceArguments, AccelerateStartsThem) {
  const launch_scripts::SourceFile launch{
      "fsdp.yaml",
      "distributed_type: FSDP\nnum_machines: 2\nnum_processes: 16\n"
      "fsdp_config: {fsdp_version: 2, fsdp_reshard_after_forward: true}\n"
      "parallelism_config: {parallelism_config_dp_replicate_size: 2, "
      "parallelism_config_dp_shard_size: 4, parallelism_config_tp_size: 2}\n"};
  const plan::PlannedJob planned =
      read_files({arguments_with("max_length: 4096\n"), launch, kModel}, "").planned;
  EXPECT_EQ(plan::sharding_letters(planned.plan.sharding), "III");
  EXPECT_EQ(planned.plan.sharding.group, 4);
  EXPECT_EQ(planned.plan.parallel.tensor, 2);
  EXPECT_EQ(planned.plan.micro_batch, 2);
}

TEST(HuggingFaceArguments, TheCommandLineOfAccelerateCounts) {
  const auto launched = [](const std::string& words,
                           std::vector<launch_scripts::SourceFile> others = {}) {
    others.push_back(kModel);
    others.push_back({"run.sh", "accelerate launch " + words +
                                    " train.py --per_device_train_batch_size 2 "
                                    "--gradient_accumulation_steps 4\n"});
    return read(others);
  };
  const plan::PlannedJob shared = launched(
      "--use_fsdp --fsdp_sharding_strategy=SHARD_GRAD_OP --fsdp_activation_checkpointing true "
      "--mixed_precision bf16 --num_processes 16 --num_machines 2");
  EXPECT_EQ(plan::sharding_letters(shared.plan.sharding), "NGG");
  EXPECT_EQ(shared.plan.recompute.kind, plan::RecomputeKind::kFull);
  EXPECT_EQ(shared.job.precision, DType::kBf16);
  const plan::PlannedJob zero = launched("--use_deepspeed --zero_stage 3 --mixed_precision fp16");
  EXPECT_EQ(plan::sharding_letters(zero.plan.sharding), "GGG");
  EXPECT_EQ(zero.job.precision, DType::kFp16);
  EXPECT_EQ(launched("--multi_gpu").job.precision, DType::kFp32);
  EXPECT_THROW(launched("--use_deepspeed --deepspeed_config_file ds.json"), Error);
  EXPECT_THROW(launched("--config_file fsdp.yaml"), Error);
  const launch_scripts::SourceFile file{"fsdp.yaml",
                                        "distributed_type: FSDP\nmixed_precision: bf16\n"
                                        "fsdp_config: {fsdp_sharding_strategy: FULL_SHARD}\n"};
  const plan::PlannedJob over = launched("--config_file fsdp.yaml --mixed_precision fp16", {file});
  EXPECT_EQ(plan::sharding_letters(over.plan.sharding), "GGG");
  EXPECT_EQ(over.job.precision, DType::kFp16);
}

TEST(HuggingFaceArguments, RefusesTwoOfAKindAndContradictions) {
  EXPECT_THROW(read({kModel, kModel}), Error);
  launch_scripts::SourceFile both = kArguments;
  both.text += "fp16: true\n";
  EXPECT_THROW(read({kModel, both}), Error);
  launch_scripts::SourceFile other = kArguments;
  other.text = "per_device_train_batch_size: 3\n";
  EXPECT_THROW(read({kModel, other}), Error);
}

/// Returns the number of devices of a script that starts a trainer with this launcher.
std::int64_t devices_behind(const std::string& launcher, const std::string& program = "train.py") {
  const launch_scripts::SourceFile file{"train.sh",
                                        launcher + " " + program +
                                            " --model_name_or_path Qwen/Qwen2.5-7B --bf16 True "
                                            "--per_device_train_batch_size 2 --output_dir x "
                                            "--model_max_length 2048\n"};
  UserFacts given;
  given.cluster = "dgx-h100";
  const plan::PlannedJob planned = import_plan_files("hf", {&file, 1}, given).planned;
  EXPECT_EQ(planned.job.length, 2048);
  return planned.job.cluster.devices();
}

TEST(HuggingFaceArguments, ProcessesAreThoseThatTheLauncherStarts) {
  EXPECT_EQ(devices_behind("CUDA_VISIBLE_DEVICES=0,1,2,3 deepspeed --master_port 29501"), 4);
  EXPECT_EQ(devices_behind("export CUDA_VISIBLE_DEVICES=0,1\naccelerate launch"), 2);
  EXPECT_EQ(devices_behind("CUDA_VISIBLE_DEVICES=3 python"), 1);
  EXPECT_EQ(devices_behind("CUDA_VISIBLE_DEVICES=0,1 torchrun --nproc_per_node 2"), 2);
  EXPECT_EQ(devices_behind("deepspeed --include localhost:2,3"), 2);
  EXPECT_EQ(devices_behind("deepspeed --include=a:0,1,2,3,4,5,6,7@b:0,1,2,3,4,5,6,7"), 16);
  EXPECT_EQ(devices_behind("CUDA_VISIBLE_DEVICES=$GPUS deepspeed"), 8);
  EXPECT_EQ(devices_behind("deepspeed --num_gpus 4"), 4);
  EXPECT_THAT([] { devices_behind("CUDA_VISIBLE_DEVICES=0,1 torchrun --nproc_per_node 4"); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("leaves them 2 devices")));
}

TEST(HuggingFaceArguments, AFileOfDeepSpeedMayHaveItsOwnArgument) {
  const launch_scripts::SourceFile script{
      "train.sh",
      "deepspeed --num_gpus 8 train.py --deepspeed_config conf/ds.json "
      "--model_name_or_path Qwen/Qwen2.5-7B --bf16 True "
      "--per_device_train_batch_size 2 --max_length 2048\n"};
  UserFacts given;
  given.cluster = "dgx-h100";
  EXPECT_THAT([&] { import_plan_files("hf", {&script, 1}, given); },
              testing::ThrowsMessage<Error>(
                  testing::HasSubstr("names a configuration of DeepSpeed: give its file, too")));
  const std::vector<launch_scripts::SourceFile> files = {script, kDeepSpeed};
  EXPECT_EQ(plan::sharding_letters(import_plan_files("hf", files, given).planned.plan.sharding),
            "NGG");
}

TEST(HubArguments, ModelsHaveOtherNamesInScripts) {
  const auto model = [](const std::string& words) {
    return import_text("", "run.sh",
                       "torchrun --nproc_per_node 8 sft.py --per_device_train_batch_size 1 "
                       "--gradient_accumulation_steps 2 --max_length 1024 --bf16 " +
                           words + "\n",
                       {.cluster = "dgx-h100"})
        .planned.job.model_name;
  };
  EXPECT_EQ(model("--model_id_or_path meta-llama/Meta-Llama-3-8B"), "llama-3-8b");
  EXPECT_EQ(model("--base_model Qwen/Qwen3-4B"), "qwen3-4b");
}

}  // namespace
}  // namespace stepwright::framework_files
