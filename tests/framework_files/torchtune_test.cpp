#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "imported.h"
#include "stepwright/core/error.h"
#include "stepwright/framework_files/launch_file.h"
#include "stepwright/model/catalog.h"
#include "stepwright/model/parameters.h"
#include "tests/plan/random_plans.h"

namespace stepwright::framework_files {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// Returns a shortened recipe in the form of meta-pytorch/torchtune recipes/configs.
std::string tune_recipe(const std::string& model, const std::string& more = "") {
  return "model:\n  _component_: torchtune.models." + model +
         "\ntokenizer:\n  _component_: torchtune.models.llama3.llama3_tokenizer\n"
         "  max_seq_len: 2048\nbatch_size: 2\ngradient_accumulation_steps: 8\ndtype: bf16\n"
         "loss:\n  _component_: torchtune.modules.loss.CEWithChunkedOutputLoss\n" +
         more;
}
const std::string kTuneAdam = "optimizer:\n  _component_: torch.optim.AdamW\n  fused: True\n";
const std::string kTuneAdapters =
    "\n  lora_attn_modules: ['q_proj', 'v_proj', 'output_proj']\n  apply_lora_to_mlp: True\n"
    "  lora_rank: 64\n  lora_alpha: 128";

ImportedPlan torchtuned(const std::string& text, UserFacts given = {.cluster = "dgx-h100"}) {
  return import_text("", "8B.yaml", text, std::move(given));
}

std::string tune_refusal(const std::string& text, const std::string& name = "8B.yaml") {
  try {
    import_text("", name, text, {.cluster = "dgx-h100"});
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Torchtune, TrainsAllWeightsUnderFsdpInTheirOwnType) {
  const ImportedPlan read = torchtuned(
      tune_recipe("llama3_1.llama3_1_8b",
                  kTuneAdam + "enable_activation_checkpointing: True\nfsdp_cpu_offload: True\n"));
  EXPECT_EQ(read.target, "torchtune");
  const auto& [job, plan] = read.planned;
  EXPECT_EQ(job.model_name, "llama-3.1-8b");
  EXPECT_EQ(job.framework.variant, "torchtune");
  EXPECT_EQ(job.sequences, 2 * 8 * 8);
  EXPECT_EQ(job.length, 2048);
  EXPECT_EQ(job.kernels.masters, plan::MasterWeights::kNone);
  EXPECT_FALSE(job.kernels.fused_norm);
  EXPECT_EQ(job.kernels.loss_chunks, 8);
  EXPECT_EQ(job.kernels.loss_keeps, plan::LossSavedTensors::kAllLogits);
  EXPECT_EQ(plan.accumulate, DType::kBf16);
  EXPECT_EQ(plan::sharding_letters(plan.sharding), "GGG");
  EXPECT_EQ(plan.recompute.kind, plan::RecomputeKind::kFull);
  EXPECT_TRUE(plan.offload.parameters);
  EXPECT_THAT(read.report.read, takes("model._component_", "job.model"));
}

TEST(Torchtune, TheLossSaysItsChunks) {
  const auto read = [](const std::string& loss) {
    std::string recipe = tune_recipe("llama3_1.llama3_1_8b", kTuneAdam);
    const std::string usual = "torchtune.modules.loss.CEWithChunkedOutputLoss";
    return torchtuned(recipe.replace(recipe.find(usual), usual.size(), loss));
  };
  const auto kernels = [&](const std::string& loss) { return read(loss).planned.job.kernels; };
  EXPECT_THAT(read("mine.RankLoss").report.not_read,
              lists("loss._component_", SettingImpact::kYes));
  EXPECT_EQ(kernels("torch.nn.CrossEntropyLoss").loss_chunks, 1);
  EXPECT_EQ(
      kernels("torchtune.modules.loss.LinearCrossEntropyLoss\n  num_output_chunks: 16").loss_chunks,
      16);
  EXPECT_EQ(kernels("torchtune.modules.loss.LigerLinearCrossEntropyLoss").loss_keeps,
            plan::LossSavedTensors::kGradients);
}

TEST(Torchtune, InputsOfRecomputedLayersLieOnTheHost) {
  const std::string words =
      "enable_activation_checkpointing: True\nenable_activation_offloading: True\n";
  const ImportedPlan read = torchtuned(tune_recipe("llama3_1.llama3_1_8b", kTuneAdam + words));
  EXPECT_TRUE(read.planned.plan.offload.offloads_layer_inputs());
  EXPECT_THAT(read.report.read, takes("enable_activation_offloading", "offload.activations"));
  const LaunchFile file = export_plan("torchtune", read.planned, "", false, "plan");
  EXPECT_THAT(file.text, HasSubstr("enable_activation_offloading: true"));
  EXPECT_TRUE(file.started.plan.offload.offloads_layer_inputs());
}

TEST(Torchtune, ALossInChunksIsWrittenAndReadBack) {
  plan::PlannedJob planned =
      torchtuned(tune_recipe("llama3_1.llama3_1_8b", kTuneAdam + "compile: True\n")).planned;
  planned.job.kernels.loss_chunks = 4;
  const LaunchFile file = export_plan("torchtune", planned, "", false, "plan");
  EXPECT_THAT(file.text, HasSubstr("num_output_chunks: 4"));
  EXPECT_EQ(file.started.job.kernels.loss_chunks, 4);
  planned.job.kernels.loss_keeps = plan::LossSavedTensors::kSums;
  EXPECT_EQ(export_plan("torchtune", planned, "", false, "plan").started.job.kernels.loss_keeps,
            plan::LossSavedTensors::kLogits);
}

TEST(Torchtune, AdaptersStandBesideTheModulesThatItNames) {
  const plan::Job job =
      torchtuned(tune_recipe("llama3_1.qlora_llama3_1_8b" + kTuneAdapters, kTuneAdam)).planned.job;
  ASSERT_TRUE(job.model.adapters);
  EXPECT_EQ(job.model.adapters->rank, 64);
  EXPECT_EQ(job.model.adapters->base, DType::kNf4);
  EXPECT_FALSE(job.model.adapters->has(model::LoraTargetProduct::kKey));
  for (const model::LoraTargetProduct target :
       {model::LoraTargetProduct::kQuery, model::LoraTargetProduct::kProjection,
        model::LoraTargetProduct::kGate, model::LoraTargetProduct::kFc2}) {
    EXPECT_TRUE(job.model.adapters->has(target));
  }
  EXPECT_FALSE(
      torchtuned(tune_recipe("llama3.lora_llama3_8b\n  lora_attn_modules: ['k_proj']", kTuneAdam))
          .planned.job.model.adapters->has(model::LoraTargetProduct::kGate));
  const ImportedPlan more = torchtuned(tune_recipe(
      "llama3.lora_llama3_8b" + kTuneAdapters + "\n  use_dora: True\n  apply_lora_to_output: True",
      kTuneAdam));
  EXPECT_THAT(more.report.not_read,
              AllOf(lists("model.use_dora", SettingImpact::kYes),
                    lists("model.apply_lora_to_output", SettingImpact::kYes)));
}

// meta-pytorch/torchtune recipes/full_finetune_distributed.py, of 0.6.1 and of its main branch.
TEST(Torchtune, DegreesAreThoseOfItsMesh) {
  const std::string plain = "optimizer:\n  _component_: torch.optim.AdamW\n";
  const plan::Plan split =
      torchtuned(tune_recipe("llama3_1.llama3_1_8b", plain + "tensor_parallel_dim: 2\n"))
          .planned.plan;
  EXPECT_EQ(split.parallel, (plan::ParallelismDegrees{.tensor = 2, .data = 4}));
  EXPECT_FALSE(split.sequence_parallel);
  const plan::Plan copied =
      torchtuned(tune_recipe("llama3_1.llama3_1_8b",
                             plain +
                                 "context_parallel_dim: 2\ndata_parallel_replicate_dim: 2\n"
                                 "data_parallel_shard_dim: 2\nfsdp_reshard_after_forward: False\n"))
          .planned.plan;
  EXPECT_EQ(copied.parallel, (plan::ParallelismDegrees{.context = 2, .data = 4}));
  EXPECT_EQ(copied.context_kind, plan::ContextKind::kAllGather);
  EXPECT_EQ(plan::sharding_letters(copied.sharding), "NII");
  EXPECT_EQ(copied.sharding.group, 4);
  EXPECT_THAT(
      tune_refusal(tune_recipe("llama3_1.llama3_1_8b", plain + "data_parallel_shard_dim: 4\n")),
      HasSubstr("1 (replicate) x 4 (share) must be 8, the data-parallel ranks"));
}

TEST(Torchtune, LayersAreRecomputedByEitherSwitch) {
  const auto of = [](const std::string& words) {
    return torchtuned(tune_recipe("llama3.llama3_8b", kTuneAdam + words)).planned.plan.recompute;
  };
  EXPECT_EQ(of("ac_mode: selective\nac_option: 2\n").every, 2);
  EXPECT_EQ(of("ac_mode: full\n").kind, plan::RecomputeKind::kFull);
  EXPECT_EQ(of("enable_activation_checkpointing: True\n").kind, plan::RecomputeKind::kFull);
  EXPECT_EQ(of("").kind, plan::RecomputeKind::kNone);
  EXPECT_THAT(tune_refusal(tune_recipe("llama3.llama3_8b", kTuneAdam + "ac_mode: some\n")),
              HasSubstr("ac_mode: must be none, full or selective"));
}

TEST(Torchtune, ModelsThatAreNotBuiltInHaveTheSizesOfTheirBuilders) {
  const auto parameters = [](const std::string& model) {
    return model::count_parameters(torchtuned(tune_recipe(model, kTuneAdam)).planned.job.model);
  };
  // By the models' cards: google/gemma-7b, microsoft/phi-4.
  EXPECT_EQ(parameters("gemma.gemma_7b"), 8537680896);
  EXPECT_EQ(parameters("phi4.phi4_14b"), 14659507200);
  EXPECT_EQ(parameters("phi3.phi3_mini"), 3821079552);
  const std::string sizes =
      "llama3_2.llama3_2\n  vocab_size: 128256\n  num_layers: 16\n  num_heads: 32\n"
      "  num_kv_heads: 8\n  embed_dim: 2048\n  max_seq_len: 131072\n  intermediate_dim: 8192";
  EXPECT_EQ(torchtuned(tune_recipe(sizes, kTuneAdam)).planned.job.model_name, "llama-3.2-1b");
  EXPECT_THAT(tune_refusal(tune_recipe("llama3.llama3\n  vocab_size: 100", kTuneAdam)),
              HasSubstr("embed_dim"));
  EXPECT_THAT(tune_refusal(tune_recipe("llama9.llama9_8b", kTuneAdam)),
              HasSubstr("torchtune.models.llama9.llama9_8b, which is not built in"));
}

TEST(Torchtune, WhatItsRecipesRefuseIsRefused) {
  const std::string model = "llama3.llama3_8b";
  EXPECT_THAT(tune_refusal(tune_recipe(model, kTuneAdam + "tensor_parallel_dim: 2\n")),
              HasSubstr("tensor_parallel_dim: is above 1 together with a fused optimizer"));
  EXPECT_THAT(tune_refusal(tune_recipe(model, kTuneAdam + "optimizer_in_bwd: True\n")),
              HasSubstr("gradient_accumulation_steps: is above 1 together with optimizer_in_bwd"));
  EXPECT_THAT(tune_refusal(tune_recipe(model, kTuneAdam + "enable_activation_offloading: True\n")),
              HasSubstr("asks for enable_activation_checkpointing"));
  EXPECT_THAT(tune_refusal(tune_recipe(model)), HasSubstr("nothing is trained"));
  EXPECT_THAT(tune_refusal(tune_recipe("llama3_2_vision.lora_llama3_2_vision_11b", kTuneAdam)),
              HasSubstr("sees images"));
  EXPECT_THAT(tune_refusal("model:\n  _component_: torchtune.models.llama3.llama3_8b\n"
                           "batch_size: 2\n" +
                           kTuneAdam),
              HasSubstr("--set tokenizer.max_seq_len=N"));
}

TEST(Torchtune, ACommentSaysHowManyProcessesThereAreWhereNothingElseDoes) {
  const std::string text =
      "# To launch on 2 devices:\n#   tune run --nproc_per_node 2 \\\n"
      "#   full_finetune_distributed --config llama3/8B_full\n" +
      tune_recipe("llama3.llama3_8b", kTuneAdam);
  EXPECT_EQ(torchtuned(text).planned.job.cluster.devices(), 2);
  EXPECT_EQ(torchtuned(text, {.cluster = "dgx-h100", .devices = 8}).planned.job.cluster.devices(),
            8);
  EXPECT_EQ(torchtuned(text, {.cluster = "dgx-h100:2"}).planned.job.cluster.devices(), 16);
  const plan::Plan single =
      torchtuned("# tune run full_finetune_single_device --config llama3/8B_full_single_device\n" +
                 tune_recipe("llama3.llama3_8b", kTuneAdam))
          .planned.plan;
  EXPECT_EQ(single.parallel.data, 1);
}

ImportedPlan tune_started_by(const std::string& command) {
  const launch_scripts::SourceFile files[] = {
      {"run.sh", "#!/bin/bash\ntune download meta-llama/Llama-3.1-8B\n" + command + "\n"},
      {"8B_lora.yaml", tune_recipe("llama3_1.lora_llama3_1_8b" + kTuneAdapters, kTuneAdam)}};
  return import_plan_files("", files, {.cluster = "dgx-h100"});
}

TEST(Torchtune, ScriptsStartItWithWordsOverItsFile) {
  const ImportedPlan read = tune_started_by(
      "tune run --nnodes=2 --nproc_per_node 4 lora_finetune_distributed \\\n"
      "  --config llama3_1/8B_lora batch_size=4 model.lora_rank=16 tokenizer.max_seq_len=4096");
  EXPECT_EQ(read.target, "torchtune");
  EXPECT_EQ(read.planned.job.cluster.devices(), 8);
  EXPECT_EQ(read.planned.job.cluster.nodes, 2);
  EXPECT_EQ(read.planned.job.sequences, 4 * 8 * 8);
  EXPECT_EQ(read.planned.job.length, 4096);
  EXPECT_EQ(read.planned.job.model.adapters->rank, 16);
  EXPECT_EQ(tune_started_by("tune run lora_finetune_single_device --config 8B_lora.yaml")
                .planned.plan.parallel.data,
            1);
  EXPECT_EQ(tune_started_by("torchrun --nproc_per_node 8 recipes/lora_finetune_distributed.py "
                            "--config 8B_lora.yaml")
                .planned.plan.parallel.data,
            8);
  const ImportedPlan own =
      tune_started_by("tune run --nproc_per_node 4 mine/own_recipe.py --config 8B_lora.yaml");
  EXPECT_EQ(own.planned.plan.parallel.data, 4);
  EXPECT_THAT(own.report.not_read, lists("mine/own_recipe.py", SettingImpact::kMaybe));
  EXPECT_THAT(read.report.not_read,
              testing::Not(lists("lora_finetune_distributed", SettingImpact::kMaybe)));
  EXPECT_THAT([] { tune_started_by("tune run lora_finetune_distributed --config 8B_lora"); },
              testing::ThrowsMessage<Error>(HasSubstr("without --nproc_per_node")));
  EXPECT_THAT(
      [] {
        tune_started_by(
            "tune run --nproc_per_node 2 lora_finetune_distributed "
            "--config llama3/70B_lora");
      },
      testing::ThrowsMessage<Error>(
          HasSubstr("the command reads llama3/70B_lora: give this file")));
}

// torchtune/config/_utils.py: _merge_yaml_and_cli_args.
TEST(Torchtune, WordsOfACommandMayBeComponentsListsAndWhatIsTakenOut) {
  const std::string command =
      "tune run --nproc_per_node 8 lora_finetune_distributed --config 8B_lora ";
  const plan::Job job = tune_started_by(command +
                                        "optimizer=torch.optim.SGD ~optimizer.fused "
                                        "model.lora_attn_modules=\"['q_proj', 'k_proj']\" "
                                        "model.apply_lora_to_mlp=False")
                            .planned.job;
  EXPECT_EQ(job.optimizer, plan::Optimizer::kSgd);
  EXPECT_TRUE(job.model.adapters->has(model::LoraTargetProduct::kKey));
  EXPECT_FALSE(job.model.adapters->has(model::LoraTargetProduct::kValue));
  EXPECT_FALSE(job.model.adapters->has(model::LoraTargetProduct::kFc2));
  EXPECT_EQ(torchtuned(tune_recipe("llama3.llama3_8b", kTuneAdam),
                       {.cluster = "dgx-h100",
                        .settings = {"model=torchtune.models.llama3."
                                     "llama3_70b"}})
                .planned.job.model_name,
            "llama-3-70b");
  EXPECT_THAT([&] { tune_started_by(command + "batch_size.x=4"); },
              testing::ThrowsMessage<Error>(HasSubstr("sets what is in no section")));
  EXPECT_THAT([&] { tune_started_by(command + "batch_size"); },
              testing::ThrowsMessage<Error>(HasSubstr("is no NAME=VALUE")));
}

TEST(Torchtune, OptimizersAreReadOrNamed) {
  const auto of = [](const std::string& component) {
    return torchtuned(
        tune_recipe("llama3.llama3_8b", "optimizer:\n  _component_: " + component + "\n"));
  };
  EXPECT_EQ(of("torch.optim.SGD").planned.job.optimizer, plan::Optimizer::kSgd);
  EXPECT_EQ(of("torchao.optim.AdamW8bit").planned.job.optimizer, plan::Optimizer::kAdam8bit);
  const ImportedPlan paged = of("bitsandbytes.optim.PagedAdamW8bit");
  EXPECT_EQ(paged.planned.job.optimizer, plan::Optimizer::kAdam8bit);
  EXPECT_THAT(paged.report.not_read, lists("optimizer._component_", SettingImpact::kYes));
  EXPECT_THAT(of("my.Shampoo").report.not_read,
              lists("optimizer._component_", SettingImpact::kYes));
}

/// Returns a plan of sixteen ranks for a file of torchtune.
plan::PlannedJob tune_planned_on(plan::ParallelismDegrees degrees, std::string_view states) {
  plan::PlannedJob planned;
  planned.job = plan::small_job();
  planned.plan.parallel = degrees;
  planned.plan.sharding = *plan::sharding_named_by_word(states);
  return planned;
}

TEST(Torchtune, WritesTheMeshAndTheCommand) {
  const std::string text =
      export_plan("torchtune", tune_planned_on({.tensor = 2, .data = 8}, "GGG"), "", true).text;
  EXPECT_THAT(text, AllOf(HasSubstr("tensor_parallel_dim: 2"), HasSubstr("fused: false"),
                          HasSubstr("full_finetune_distributed --config THIS_FILE"),
                          HasSubstr("fsdp_reshard_after_forward: true"),
                          HasSubstr("torchtune.models.llama3.llama3\n")));
  EXPECT_THAT(
      [] { export_plan("torchtune", tune_planned_on({.data = 16}, "NNG"), ""); },
      testing::ThrowsMessage<Error>(HasSubstr("sharding NNG: fsdp (torchtune) supports only ")));
}

TEST(Torchtune, AdaptersAreWrittenAndReadBack) {
  plan::PlannedJob planned =
      torchtuned(tune_recipe("llama3_1.lora_llama3_1_8b" + kTuneAdapters, kTuneAdam)).planned;
  planned.job.model.adapters->base = DType::kNf4;
  const LaunchFile file = export_plan("torchtune", planned, "");
  EXPECT_THAT(file.text, AllOf(HasSubstr("torchtune.models.llama3_1.lora_llama3_1_8b"),
                               HasSubstr("quantize_base: true"),
                               HasSubstr("lora_finetune_distributed --config THIS_FILE")));
  EXPECT_EQ(torchtuned(file.text).planned.job.model, planned.job.model);
  planned.job.model.adapters->base = DType::kFp8;
  EXPECT_THAT([&] { export_plan("torchtune", planned, ""); },
              testing::ThrowsMessage<Error>(HasSubstr("trained")));
  planned.job.model.adapters->base = DType::kBf16;
  planned.job.model.adapters->targets.reset(model::place_of(model::LoraTargetProduct::kGate));
  EXPECT_THAT([&] { export_plan("torchtune", planned, ""); },
              testing::ThrowsMessage<Error>(HasSubstr("part_of_mlp")));
}

}  // namespace
}  // namespace stepwright::framework_files
