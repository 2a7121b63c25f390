#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "imported.h"
#include "stepwright/cluster/catalog.h"
#include "stepwright/core/error.h"
#include "stepwright/framework_files/launch_file.h"
#include "stepwright/plan/frameworks/law.h"
#include "tests/plan/refusal.h"

namespace stepwright::framework_files {
namespace {

/// Returns the master copies that a file asks for, on two nodes.
plan::MasterWeights masters_of(const std::string& name, const std::string& text) {
  return import_text("", name, text,
                     {.model = "llama-3-8b", .cluster = "dgx-h100:2", .batch = "128x4096"})
      .planned.job.kernels.masters;
}

plan::MasterWeights of_axolotl(const std::string& lines) {
  return masters_of("axolotl.yml",
                    "base_model: meta-llama/Meta-Llama-3-8B\nsequence_len: 4096\n"
                    "micro_batch_size: 1\ngradient_accumulation_steps: 8\n" +
                        lines);
}

plan::MasterWeights of_trainer(const std::string& lines) {
  return masters_of("args.yaml",
                    "per_device_train_batch_size: 1\ngradient_accumulation_steps: 8\n" + lines);
}

plan::MasterWeights of_factory(const std::string& lines) {
  return masters_of("sft.yaml",
                    "model_name_or_path: meta-llama/Meta-Llama-3-8B\nfinetuning_type: full\n"
                    "cutoff_len: 4096\nper_device_train_batch_size: 1\n"
                    "gradient_accumulation_steps: 8\n" +
                        lines);
}

plan::MasterWeights of_verl(const std::string& words) {
  return masters_of("run.sh",
                    "python3 -m verl.trainer.main_ppo data.max_prompt_length=1024 "
                    "data.max_response_length=3072 actor_rollout_ref.actor.strategy=fsdp2 "
                    "actor_rollout_ref.actor.ppo_mini_batch_size=128 "
                    "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1 " +
                        words + "\n");
}

TEST(MastersOfFiles, FsdpMakesWeightsFp32WhereProductsAreCast) {
  const std::string fsdp = "fsdp_version: 2\nfsdp_config: {reshard_after_forward: true}\n";
  EXPECT_EQ(of_axolotl(fsdp + "bf16: true\n"), plan::MasterWeights::kAlone);
  EXPECT_EQ(of_axolotl(fsdp + "bf16: full\n"), plan::MasterWeights::kNone);
  EXPECT_EQ(of_axolotl("bf16: auto\n"), plan::MasterWeights::kNone) << "plain data parallelism";
  EXPECT_EQ(of_axolotl("bf16: true\nadapter: lora\nlora_r: 8\nlora_target_linear: true\n"),
            plan::MasterWeights::kAlone)
      << "adapters are fp32";
}

TEST(MastersOfFiles, WeightsOfTrainersAreOfTheTypeThatTheyAreLoadedIn) {
  EXPECT_EQ(of_trainer("bf16: true\n"), plan::MasterWeights::kAlone);
  EXPECT_EQ(of_trainer("bf16: true\ntorch_dtype: bfloat16\n"), plan::MasterWeights::kNone);
  EXPECT_EQ(of_trainer("bf16: true\ndtype: bfloat16\nfsdp: full_shard\n"),
            plan::MasterWeights::kAlone);
  EXPECT_EQ(of_trainer("dtype: bfloat16\nfsdp: full_shard\n"), plan::MasterWeights::kNone);
  EXPECT_EQ(of_trainer("bf16: true\ntorch_dtype: float32\n"), plan::MasterWeights::kAlone);
  EXPECT_EQ(of_factory("bf16: true\n"), plan::MasterWeights::kAlone);
  EXPECT_EQ(of_factory("pure_bf16: true\n"), plan::MasterWeights::kNone);
  EXPECT_EQ(of_verl(""), plan::MasterWeights::kAlone);
  EXPECT_EQ(of_verl("actor_rollout_ref.actor.fsdp_config.model_dtype=bf16"),
            plan::MasterWeights::kNone);
}

TEST(HostThreadsOfFiles, AreThoseThatAScriptLeavesToItsProcesses) {
  const auto of_script = [](const std::string& before) {
    return import_text("", "run.sh",
                       before +
                           "torchrun --nnodes 2 --nproc-per-node 8 sft.py "
                           "--per_device_train_batch_size 1 --bf16 True\n",
                       {.model = "llama-3-8b", .cluster = "dgx-h100:2", .batch = "16x4096"});
  };
  EXPECT_EQ(of_script("").planned.job.host_threads, std::nullopt);
  EXPECT_EQ(of_script("export OMP_NUM_THREADS=12\n").planned.job.host_threads, 12);
  const ImportedPlan wrong = of_script("export OMP_NUM_THREADS=many\n");
  EXPECT_EQ(wrong.planned.job.host_threads, std::nullopt);
  EXPECT_THAT(wrong.report.not_read, lists("OMP_NUM_THREADS", SettingImpact::kNo));
  EXPECT_TRUE(of_script("export CUDA_LAUNCH_BLOCKING=1\n").planned.job.kernels.blocking_launches);
  EXPECT_FALSE(of_script("export CUDA_LAUNCH_BLOCKING=0\n").planned.job.kernels.blocking_launches);
}

TEST(MastersOfFiles, DeepSpeedHasItsOwnCopies) {
  EXPECT_EQ(masters_of("ds.json", R"({"train_micro_batch_size_per_gpu": 1,
      "bf16": {"enabled": true}, "zero_optimization": {"stage": 3}})"),
            plan::MasterWeights::kBeside);
}

/// Returns a plan that shards all states of a model whose updates have no master copies.
plan::PlannedJob in_place() {
  return import_text("", "args.yaml",
                     "per_device_train_batch_size: 1\ngradient_accumulation_steps: "
                     "8\ndtype: bfloat16\nfsdp: full_shard\n",
                     {.model = "llama-3-8b", .cluster = "dgx-h100:2", .batch = "128x4096"})
      .planned;
}

TEST(MastersOfFiles, UpdatesInPlaceAreWrittenAndReadBack) {
  for (const auto& [target, line] : {std::pair{"axolotl", "bf16: full"},
                                     {"llama-factory", "pure_bf16: true"},
                                     {"torchtitan", "dtype = \"bfloat16\""},
                                     {"maxtext", "weight_dtype: bfloat16"}}) {
    SCOPED_TRACE(target);
    const bool titan = std::string_view(target) == "torchtitan";
    const LaunchFile file = export_plan(target, in_place(), titan ? "0.2.2" : "", true);
    EXPECT_THAT(file.text, testing::HasSubstr(line));
    EXPECT_EQ(file.started.job.kernels.masters, plan::MasterWeights::kNone);
    EXPECT_EQ(file.started.plan.accumulate, DType::kBf16);
    const plan::PlannedJob back =
        import_text(target, "it", file.text,
                    {.model = "llama-3-8b", .cluster = "dgx-h100:2", .batch = "128x4096"})
            .planned;
    EXPECT_EQ(back.job.kernels.masters, plan::MasterWeights::kNone);
    EXPECT_EQ(back.plan, file.started.plan);
  }
}

// axolotl loads weights in bf16, which nothing but FSDP makes fp32: of bf16 are gradients, too.
TEST(MastersOfFiles, AnExportSaysWhatStartsWithoutMasters) {
  const UserFacts given{.model = "llama-3-8b", .cluster = "dgx-h100:2", .batch = "128x4096"};
  for (const std::string cluster : {"dgx-h100:2", "dgx-h100:1"}) {
    plan::PlannedJob planned = in_place();
    planned.job.kernels.masters = plan::MasterWeights::kAlone;
    planned.job.cluster = *cluster::built_in_cluster("dgx-h100", cluster.ends_with('2') ? 2 : 1);
    planned.job.cluster.devices_per_node = cluster.ends_with('2') ? 8 : 1;
    planned.plan = plan::Plan{};
    planned.plan.parallel.data = planned.job.cluster.devices();
    planned.plan.accumulate = DType::kBf16;
    const plan::FrameworkSupport law({.name = "accelerate", .variant = "axolotl"});
    planned.plan = law.with_framework_bucket_sizes(planned.job, planned.plan);
    const LaunchFile file = export_plan("axolotl", planned, "");
    EXPECT_THAT(file.text, testing::HasSubstr("bf16: full"));
    EXPECT_THAT(file.notes,
                testing::Contains(testing::HasSubstr("`kernels.masters` is none in the framework "
                                                     "and alone in the plan")));
    EXPECT_EQ(file.started.job.kernels.masters, plan::MasterWeights::kNone);
    EXPECT_EQ(file.started.plan.accumulate, DType::kBf16);
    planned.plan.accumulate = DType::kFp32;
    EXPECT_THAT(
        plan::refusal_of(ErrorKind::kUnsupported, [&] { export_plan("axolotl", planned, ""); }),
        testing::HasSubstr("accumulate wide: accelerate (axolotl) supports only own"));
    EXPECT_EQ(export_plan("axolotl", planned, "", true).started.plan.accumulate, DType::kBf16);
  }
}

TEST(MastersOfFiles, AnExportSaysThatItsFileDoesNot) {
  const plan::PlannedJob planned = in_place();
  ASSERT_EQ(planned.job.kernels.masters, plan::MasterWeights::kNone);
  const LaunchFile file = export_plan("accelerate", planned, "");
  EXPECT_THAT(file.notes, testing::Contains(testing::HasSubstr("kernels.masters: none")));
  EXPECT_EQ(file.started.job.kernels.masters, plan::MasterWeights::kAlone);
}

}  // namespace
}  // namespace stepwright::framework_files
