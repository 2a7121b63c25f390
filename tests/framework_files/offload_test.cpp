#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "imported.h"
#include "stepwright/cluster/catalog.h"
#include "stepwright/core/error.h"
#include "stepwright/framework_files/launch_file.h"
#include "stepwright/model/catalog.h"
#include "stepwright/plan/frameworks/law.h"

namespace stepwright::framework_files {
namespace {

using testing::HasSubstr;

constexpr plan::HostOffload kParameters{.optimizer = 1, .parameters = true};
constexpr plan::HostOffload kOptimizer{.optimizer = 1};

/// Returns the plan in a file, on two nodes.
ImportedPlan import_file(const std::string& name, const std::string& text,
                         const std::string& cluster = "dgx-h100:2") {
  return import_text("", name, text,
                     {.model = "llama-3-8b", .cluster = cluster, .batch = "128x4096"});
}

std::string accelerate(const std::string& states, bool offload = true) {
  return fmt::format(
      "distributed_type: FSDP\nmixed_precision: bf16\n"
      "fsdp_config: {{{}, fsdp_offload_params: {}}}\n",
      states, offload);
}

std::string deepspeed(const std::string& zero) {
  return fmt::format(R"({{"train_micro_batch_size_per_gpu": 1, "bf16": {{"enabled": true}},
    "zero_optimization": {{{}}}}})",
                     zero);
}

plan::HostOffload of_accelerate(const std::string& states) {
  return import_file("launch.yaml", accelerate(states)).planned.plan.offload;
}

plan::HostOffload of_deepspeed(const std::string& zero) {
  return import_file("ds.json", deepspeed(zero)).planned.plan.offload;
}

TEST(OffloadedFsdp, ParametersLieOnTheHostWhereTheyAreGatheredForEachUse) {
  EXPECT_EQ(of_accelerate("fsdp_version: 2, fsdp_reshard_after_forward: true"), kParameters);
  EXPECT_EQ(of_accelerate("fsdp_sharding_strategy: HYBRID_SHARD"), kParameters);
  // Parameters stay gathered from the forward to the backward.
  EXPECT_EQ(of_accelerate("fsdp_reshard_after_forward: false"), kOptimizer);
  EXPECT_EQ(import_file("launch.yaml", accelerate("fsdp_version: 2", false)).planned.plan.offload,
            plan::HostOffload{});
}

TEST(OffloadedFsdp, WhatNoRanksShareIsCountedOnTheDevices) {
  const auto alone = [](const std::string& states, const std::string& cluster) {
    const ImportedPlan plan = import_file("launch.yaml", accelerate(states), cluster);
    EXPECT_THAT(plan.report.not_read,
                lists("fsdp_config.fsdp_offload_params", SettingImpact::kYes));
    EXPECT_THAT(plan.report.read,
                testing::Not(takes("fsdp_config.fsdp_offload_params", "offload")));
    return plan.planned.plan.offload;
  };
  EXPECT_EQ(alone("fsdp_version: 2", "{profile: dgx-h100, devices: 1}"), kOptimizer);
  EXPECT_EQ(alone("fsdp_sharding_strategy: NO_SHARD", "dgx-h100:2"), kOptimizer);
}

TEST(OffloadedFsdp, TheHostUpdatesNoMuon) {
  const ImportedPlan plan = import_file(
      "launch.yaml", accelerate("fsdp_version: 2") + "# stepwright: {optimizer: muon}\n");
  EXPECT_EQ(plan.planned.job.optimizer, plan::Optimizer::kMuon);
  EXPECT_EQ(plan.planned.plan.offload, plan::HostOffload{});
  EXPECT_THAT(plan.report.not_read, lists("fsdp_config.fsdp_offload_params", SettingImpact::kYes));
}

TEST(OffloadedFsdp, EachProgramPassesItOn) {
  const auto offload = [](const std::string& name, const std::string& text) {
    const ImportedPlan plan = import_file(name, text);
    EXPECT_EQ(plan::sharding_letters(plan.planned.plan.sharding), "GGG") << text;
    return plan.planned.plan.offload;
  };
  EXPECT_EQ(offload("axolotl.yml",
                    "base_model: meta-llama/Meta-Llama-3-8B\nsequence_len: 4096\n"
                    "micro_batch_size: 1\ngradient_accumulation_steps: 8\nfsdp_version: 2\n"
                    "fsdp_config: {reshard_after_forward: true, offload_params: true}\n"),
            kParameters);
  EXPECT_EQ(offload("args.yaml",
                    "per_device_train_batch_size: 1\ngradient_accumulation_steps: 8\n"
                    "fsdp: full_shard offload auto_wrap\nbf16: true\n"),
            kParameters);
  EXPECT_EQ(offload("sft.yaml",
                    "model_name_or_path: meta-llama/Meta-Llama-3-8B\nfinetuning_type: full\n"
                    "cutoff_len: 4096\nper_device_train_batch_size: 1\nbf16: true\n"
                    "gradient_accumulation_steps: 8\nfsdp: full_shard\n"
                    "fsdp_config: {fsdp_offload_params: true}\n"),
            kParameters);
  EXPECT_EQ(offload("train.toml",
                    "[training]\nlocal_batch_size = 1\nglobal_batch_size = 128\nseq_len = 4096\n"
                    "enable_cpu_offload = true\n[parallelism]\n"
                    "data_parallel_shard_degree = -1\n"),
            kParameters);
  EXPECT_EQ(offload("run.sh",
                    "python3 -m verl.trainer.main_ppo data.max_prompt_length=1024 "
                    "data.max_response_length=3072 "
                    "actor_rollout_ref.actor.strategy=fsdp2 "
                    "actor_rollout_ref.actor.ppo_mini_batch_size=128 "
                    "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1 "
                    "actor_rollout_ref.actor.fsdp_config.offload_policy=True\n"),
            kParameters);
  EXPECT_EQ(offload("sft.yaml",
                    "policy:\n  model_name: meta-llama/Meta-Llama-3-8B\n"
                    "  train_global_batch_size: 128\n  train_micro_batch_size: 1\n"
                    "  max_total_sequence_length: 4096\n"
                    "  dtensor_cfg: {enabled: true, cpu_offload: true}\n"),
            kParameters);
}

TEST(OffloadedDeepSpeed, ReadsOptimizerAndParameters) {
  EXPECT_EQ(of_deepspeed(R"("stage": 3, "offload_optimizer": {"device": "cpu"},
                            "offload_param": {"device": "cpu", "pin_memory": true})"),
            kParameters);
  EXPECT_EQ(of_deepspeed(R"("stage": 2, "offload_optimizer": {"device": "cpu"},
                            "offload_param": {"device": "cpu"})"),
            kOptimizer);
  EXPECT_EQ(of_deepspeed(R"("stage": 3, "offload_optimizer": {"device": "cpu", "ratio": 0.25})"),
            (plan::HostOffload{.optimizer = 0.25}));
  // A share is ZeRO-3's.
  EXPECT_EQ(of_deepspeed(R"("stage": 1, "offload_optimizer": {"device": "cpu", "ratio": 0.25})"),
            kOptimizer);
  for (const std::string parameters : {"cpu_offload_param", "cpu_offload_params"}) {
    EXPECT_EQ(of_deepspeed(R"("stage": 3, "cpu_offload": true, ")" + parameters + "\": true"),
              kParameters);
  }
  EXPECT_EQ(of_deepspeed(R"("stage": 0, "offload_optimizer": {"device": "cpu"})"),
            plan::HostOffload{});
}

TEST(OffloadedDeepSpeed, WhatNoPlanHasIsSaid) {
  const auto offload = [](const std::string& zero, const std::string& name) {
    const ImportedPlan plan = import_file("ds.json", deepspeed(zero));
    EXPECT_THAT(plan.report.not_read, lists(name, SettingImpact::kYes));
    return plan.planned.plan.offload;
  };
  const std::string parameters = "zero_optimization.offload_param.device";
  EXPECT_EQ(offload(R"("stage": 3, "offload_param": {"device": "cpu"})", parameters),
            plan::HostOffload{});
  EXPECT_EQ(offload(R"("stage": 3, "offload_optimizer": {"device": "cpu"},
                       "offload_param": {"device": "nvme"})",
                    parameters),
            kOptimizer);
  EXPECT_EQ(offload(R"("stage": 3, "zero_hpz_partition_size": 8,
                       "offload_optimizer": {"device": "cpu"},
                       "offload_param": {"device": "cpu"})",
                    parameters),
            kOptimizer);
  EXPECT_EQ(offload(R"("stage": 3, "offload_optimizer": {"device": "nvme"})",
                    "zero_optimization.offload_optimizer.device"),
            plan::HostOffload{});
}

TEST(OffloadedDeepSpeed, ASectionOfAccelerateIsReadAlike) {
  const auto offload = [](const std::string& section) {
    return import_file("launch.yaml",
                       "distributed_type: DEEPSPEED\nmixed_precision: bf16\n"
                       "deepspeed_config: {" +
                           section + "}\n")
        .planned.plan.offload;
  };
  EXPECT_EQ(offload("zero_stage: 3, offload_optimizer_device: cpu, offload_param_device: cpu"),
            kParameters);
  EXPECT_EQ(offload("zero_stage: 2, offload_optimizer_device: cpu, offload_param_device: none"),
            kOptimizer);
  EXPECT_EQ(offload("zero_stage: 2, offload_optimizer_device: nvme"), plan::HostOffload{});
  EXPECT_THAT([&] { offload("zero_stage: 3, offload_param_device: gpu"); },
              testing::ThrowsMessage<Error>(
                  HasSubstr("deepspeed_config.offload_param_device: must be one of none, cpu")));
}

TEST(OffloadedDeepSpeed, ItsFlagsOfGptNeoxAreReadAlike) {
  EXPECT_EQ(import_file("neox.yml",
                        "{\"pipe_parallel_size\": 0, \"model_parallel_size\": 1, "
                        "\"num_gpus\": 8, \"train_micro_batch_size_per_gpu\": 16, "
                        "\"seq_length\": 4096, \"precision\": \"bfloat16\", "
                        "\"zero_optimization\": {\"stage\": 1, \"cpu_offload\": true}}",
                        "dgx-h100")
                .planned.plan.offload,
            kOptimizer);
}

TEST(Offloaded, BadValuesNameTheirPlace) {
  const auto refused = [](const std::string& name, const std::string& text) -> std::string {
    try {
      import_file(name, text);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInput);
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(
      refused("launch.yaml", "distributed_type: FSDP\nfsdp_config: {fsdp_offload_params: some}\n"),
      HasSubstr("launch.yaml:2:36: fsdp_config.fsdp_offload_params: must be true or false"));
  EXPECT_THAT(refused("ds.json", deepspeed(R"("stage": 3, "offload_param": {"device": "gpu"})")),
              HasSubstr("zero_optimization.offload_param.device: must be one of none, cpu, nvme"));
  EXPECT_THAT(refused("ds.json", deepspeed(R"("stage": 3, "offload_param": true)")),
              HasSubstr("must be a mapping"));
}

/// Returns a plan on two nodes with these states and offload choices.
plan::PlannedJob planned_with(const std::string& states, const plan::HostOffload& offload) {
  plan::PlannedJob planned;
  planned.job.model = *model::built_in_model("llama-3-8b");
  planned.job.model_name = "llama-3-8b";
  planned.job.cluster = *cluster::built_in_cluster("dgx-h100", 2);
  planned.job.sequences = 128;
  planned.job.length = 4096;
  planned.job.precision = DType::kBf16;
  planned.plan.parallel.data = 16;
  planned.plan.sharding = *plan::sharding_named_by_word(states);
  if (planned.plan.sharding.uses(plan::StateShardingScope::kInner)) planned.plan.sharding.group = 8;
  planned.plan.offload = offload;
  return planned;
}

/// Returns the nearest plan that a target runs, after writing it and reading it back.
plan::Plan plan_read_back(const std::string& target, const plan::PlannedJob& planned,
                          const std::string& release = "") {
  const LaunchFile file = export_plan(target, planned, release, true);
  UserFacts given;
  given.known_cluster = planned.job.cluster;
  given.known_model = planned.job.model;
  given.batch = "128x4096";
  const launch_scripts::SourceFile text{"file", file.text};
  return import_plan_files(target, {&text, 1}, given).planned.plan;
}

plan::HostOffload written_and_read(const std::string& target, const plan::PlannedJob& planned,
                                   const std::string& release = "") {
  return plan_read_back(target, planned, release).offload;
}

TEST(Offloaded, ParametersAreWrittenAndReadBack) {
  const std::vector<std::string> targets = {"accelerate", "axolotl", "llama-factory", "deepspeed",
                                            "torchtitan", "fsdp",    "torchtune"};
  for (const std::string& target : targets) {
    EXPECT_EQ(written_and_read(target, planned_with("GGG", kParameters)), kParameters) << target;
    EXPECT_EQ(written_and_read(target, planned_with("NGG", kOptimizer)), kOptimizer) << target;
    EXPECT_EQ(written_and_read(target, planned_with("GGG", plan::HostOffload{})),
              plan::HostOffload{})
        << target;
  }
  for (const std::string target : {"accelerate", "axolotl", "torchtitan", "fsdp", "torchtune"}) {
    EXPECT_EQ(written_and_read(target, planned_with("III", kParameters)), kParameters) << target;
  }
  EXPECT_EQ(written_and_read("torchtitan", planned_with("GGG", kParameters), "0.2.2"), kParameters);
  EXPECT_EQ(written_and_read("accelerate", planned_with("NNG", kOptimizer)), kOptimizer);
  const plan::HostOffload half{.optimizer = 0.5, .masters = false};
  for (const std::string target : {"megatron", "ms-swift", "nemo-rl"}) {
    EXPECT_EQ(written_and_read(target, planned_with("NNG", half)), half) << target;
  }
  EXPECT_EQ(written_and_read("deepspeed", planned_with("GGG", {.optimizer = 0.5})),
            (plan::HostOffload{.optimizer = 0.5}));
}

TEST(Offloaded, OneRankLeavesItsOptimizerToTheHostUnderDeepSpeed) {
  plan::PlannedJob planned = planned_with("NNN", kOptimizer);
  planned.job.cluster.nodes = 1;
  planned.job.cluster.devices_per_node = 1;
  planned.plan.parallel.data = 1;
  EXPECT_EQ(written_and_read("deepspeed", planned), kOptimizer);
}

std::string refused_by(const std::string& target, const plan::PlannedJob& planned,
                       const std::string& release = "") {
  try {
    export_plan(target, planned, release);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    return error.what();
  }
  return "";
}

TEST(Offloaded, WhatATargetDoesNotLeaveThereIsRefusedWithTheNearest) {
  EXPECT_THAT(
      refused_by("megatron", planned_with("GGG", kParameters)),
      HasSubstr(
          "offload parameters: megatron-core supports only optimizer, share, device_masters"));
  EXPECT_THAT(refused_by("megatron", planned_with("NNG", kOptimizer), "0.11"),
              HasSubstr("offload optimizer: megatron-core supports only none"));
  EXPECT_THAT(refused_by("maxtext", planned_with("GGG", kParameters)),
              HasSubstr("offload parameters: maxtext supports only none"));
  EXPECT_THAT(refused_by("torchtitan", planned_with("GGG", kOptimizer)),
              testing::AllOf(HasSubstr("offload optimizer: torchtitan supports only parameters"),
                             HasSubstr("offload.parameters true")));
  EXPECT_THAT(refused_by("deepspeed", planned_with("NGG", {.optimizer = 0.5})),
              testing::AllOf(HasSubstr("offload share: deepspeed supports only optimizer"),
                             HasSubstr("offload.optimizer 1")));
  EXPECT_THAT(
      refused_by("accelerate", planned_with("GGG", {.activations = {plan::OffloadModule::kQkv}})),
      HasSubstr("host_activations qkv_linear: accelerate supports only layer_input"));
}

TEST(InputsOfLayers, LieOnTheHostWhereAProgramSaysSoBesideRecomputation) {
  const auto offload = [](const std::string& name, const std::string& text) {
    return import_file(name, text).planned.plan.offload;
  };
  plan::HostOffload inputs;
  inputs.move_inputs();
  const std::string axolotl =
      "base_model: meta-llama/Meta-Llama-3-8B\nsequence_len: 4096\nmicro_batch_size: 1\n"
      "gradient_accumulation_steps: 8\n";
  EXPECT_EQ(offload("axolotl.yml", axolotl + "gradient_checkpointing: offload\n"), inputs);
  EXPECT_EQ(offload("axolotl.yml",
                    axolotl + "gradient_checkpointing: true\nactivation_offloading: true\n"),
            inputs);
  EXPECT_EQ(offload("axolotl.yml",
                    axolotl + "gradient_checkpointing: true\nactivation_offloading: false\n"),
            plan::HostOffload{});
  EXPECT_EQ(offload("axolotl.yml", axolotl + "gradient_checkpointing: true\n"
                                             "gradient_checkpointing_kwargs: {offload: true}\n"),
            inputs);
  const std::string factory =
      "model_name_or_path: meta-llama/Meta-Llama-3-8B\nfinetuning_type: full\ncutoff_len: 4096\n"
      "per_device_train_batch_size: 1\nbf16: true\ngradient_accumulation_steps: 8\n";
  EXPECT_EQ(offload("sft.yaml", factory + "use_unsloth_gc: true\n"), inputs);
  EXPECT_EQ(
      offload("sft.yaml", factory + "use_unsloth_gc: true\ndisable_gradient_checkpointing: true\n"),
      plan::HostOffload{});
  EXPECT_EQ(offload("args.yaml",
                    "per_device_train_batch_size: 1\ngradient_accumulation_steps: 8\nbf16: true\n"
                    "gradient_checkpointing: true\nactivation_offloading: true\n"),
            inputs);
  const std::string arguments =
      "per_device_train_batch_size: 1\ngradient_accumulation_steps: 8\nbf16: true\n";
  EXPECT_EQ(offload("args.yaml", arguments + "gradient_checkpointing: true\n"
                                             "gradient_checkpointing_kwargs: {offload: true}\n"),
            inputs);
  EXPECT_EQ(offload("args.yaml", arguments + "activation_checkpointing: true\n"
                                             "activation_checkpointing_kwargs: {offload: false}\n"),
            plan::HostOffload{});
  EXPECT_EQ(
      offload("args.yaml", arguments + "fsdp: true\nfsdp_config: {activation_checkpointing: true, "
                                       "activation_checkpointing_offload: true}\n"),
      inputs);
  EXPECT_EQ(offload("ds.json", R"({"train_micro_batch_size_per_gpu": 1, "bf16": {"enabled": true},
    "activation_checkpointing": {"cpu_checkpointing": true}})"),
            inputs);
}

TEST(InputsOfLayers, OnADiskOrBesideAllElseAreLeftOut) {
  const auto left_out = [](const std::string& name, const std::string& text,
                           const std::string& setting) {
    const ImportedPlan plan = import_file(name, text);
    EXPECT_EQ(plan.planned.plan.offload, plan::HostOffload{});
    EXPECT_THAT(plan.report.not_read, lists(setting, SettingImpact::kYes));
  };
  const std::string axolotl =
      "base_model: meta-llama/Meta-Llama-3-8B\nsequence_len: 4096\nmicro_batch_size: 1\n"
      "gradient_accumulation_steps: 8\n";
  left_out("axolotl.yml", axolotl + "gradient_checkpointing: offload_disk\n",
           "gradient_checkpointing");
  left_out("axolotl.yml", axolotl + "activation_offloading: true\n", "activation_offloading");
  left_out("args.yaml",
           "per_device_train_batch_size: 1\ngradient_accumulation_steps: 8\nbf16: true\n"
           "activation_offloading: true\n",
           "activation_offloading");
}

/// FSDP has its own word for recomputation; without it, the training code recomputes, which files
/// can also say.
TEST(InputsOfLayers, AreLeftToTheHostByVerlWhereItRecomputes) {
  const auto read = [](const std::string& words) {
    return import_file("run.sh",
                       "python3 -m verl.trainer.main_ppo data.max_prompt_length=1024 "
                       "data.max_response_length=3072 "
                       "actor_rollout_ref.actor.strategy=fsdp2 "
                       "actor_rollout_ref.actor.ppo_mini_batch_size=128 "
                       "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1 "
                       "actor_rollout_ref.model.enable_activation_offload=True " +
                           words + "\n");
  };
  const std::string setting = "actor_rollout_ref.model.enable_activation_offload";
  const ImportedPlan moved = read("");
  EXPECT_TRUE(moved.planned.plan.offload.offloads_layer_inputs());
  EXPECT_THAT(moved.report.read, takes(setting, "offload.activations"));
  const ImportedPlan kept = read("actor_rollout_ref.model.enable_gradient_checkpointing=False");
  EXPECT_EQ(kept.planned.plan.offload, plan::HostOffload{});
  EXPECT_THAT(kept.report.not_read, lists(setting, SettingImpact::kYes));
}

TEST(InputsOfLayers, AreWrittenAndReadBack) {
  for (const std::string target : {"accelerate", "deepspeed", "axolotl", "llama-factory"}) {
    for (const std::string states : {"NNN", "GGG"}) {
      plan::PlannedJob planned = planned_with(states, {});
      planned.plan.recompute.kind = plan::RecomputeKind::kFull;
      planned.plan.offload.move_inputs();
      const plan::Plan read = plan_read_back(target, planned);
      EXPECT_EQ(read.recompute.kind, plan::RecomputeKind::kFull) << target << " " << states;
      EXPECT_TRUE(read.offload.offloads_layer_inputs()) << target << " " << states;
    }
  }
  plan::PlannedJob none = planned_with("GGG", {});
  none.plan.recompute.kind = plan::RecomputeKind::kFull;
  none.plan.offload.move_inputs();
  EXPECT_THAT(refused_by("torchtitan", none), HasSubstr("host_activations layer_input"));
}

TEST(Offloaded, FrameworksShareTheTable) {
  const auto runs = [](const std::string& states, const plan::HostOffload& offload) {
    plan::PlannedJob planned = planned_with(states, offload);
    std::vector<std::string_view> names;
    for (const std::string_view name : plan::frameworks_supporting_plan(planned.job, planned.plan))
      names.push_back(name);
    return names;
  };
  EXPECT_THAT(runs("GGG", kParameters), testing::IsSupersetOf({"stepwright", "deepspeed"}));
  EXPECT_THAT(runs("GGG", kParameters), testing::Not(testing::Contains("megatron-core")));
  EXPECT_THAT(runs("NNG", kOptimizer), testing::Contains("megatron-core"));
}

}  // namespace
}  // namespace stepwright::framework_files
