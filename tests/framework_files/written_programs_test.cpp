#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stepwright/cluster/catalog.h"
#include "stepwright/core/error.h"
#include "stepwright/framework_files/launch_file.h"
#include "stepwright/model/catalog.h"
#include "stepwright/model/encoder.h"
#include "tests/plan/random_plans.h"

// Files of programs that are built on a framework and run only part of its features.

namespace stepwright::framework_files {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

plan::PlannedJob planned_on(plan::ParallelismDegrees degrees, std::string_view states) {
  plan::PlannedJob planned;
  planned.job = plan::small_job();
  planned.plan.parallel = degrees;
  planned.plan.sharding = *plan::sharding_named_by_word(states);
  return planned;
}

/// Returns the file of a plan, or of the nearest plan.
std::string text_of(std::string_view word, const plan::PlannedJob& planned) {
  return export_plan(word, planned, "", true).text;
}

/// Returns why a plan is refused although the nearest plan can be written.
std::string refusal_of(std::string_view word, const plan::PlannedJob& planned) {
  EXPECT_NO_THROW(export_plan(word, planned, "", true));
  try {
    export_plan(word, planned, "");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    return error.what();
  }
  return "";
}

TEST(WrittenPrograms, LlamaFactorySaysDataParallelism) {
  EXPECT_THAT(text_of("llama-factory", planned_on({.data = 16}, "GGG")),
              AllOf(HasSubstr("fsdp: full_shard auto_wrap"), HasSubstr("dataset: c4_demo"),
                    HasSubstr("fsdp_reshard_after_forward: true")));
  EXPECT_THAT(refusal_of("llama-factory", planned_on({.tensor = 2, .data = 8}, "GGG")),
              HasSubstr("parallel tensor: accelerate (llama-factory) supports only none"));
  EXPECT_THAT(refusal_of("llama-factory", planned_on({.data = 16}, "NNG")),
              HasSubstr("sharding NNG: accelerate (llama-factory) supports only NNN, NGG, GGG"));
}

TEST(WrittenPrograms, AxolotlSaysItsMesh) {
  EXPECT_THAT(text_of("axolotl", planned_on({.tensor = 2, .data = 8}, "GGG")),
              AllOf(HasSubstr("tensor_parallel_size: 2"), HasSubstr("dp_shard_size: 8"),
                    HasSubstr("fsdp_version: 2")));
  EXPECT_THAT(refusal_of("axolotl", planned_on({.data = 16}, "NNG")),
              HasSubstr("sharding NNG: accelerate (axolotl) supports only "));
}

/// Returns a job of eight ranks that shard all states, with parts of its model frozen.
plan::PlannedJob frozen_job(const model::FrozenModelParts& frozen) {
  plan::PlannedJob planned = planned_on({.data = 16}, "GGG");
  planned.job.model.frozen = frozen;
  return planned;
}

model::ModelArchitecture read_model_again(std::string_view target, const plan::PlannedJob& planned,
                                          const std::string& text) {
  UserFacts given;
  given.known_cluster = planned.job.cluster;
  given.known_model = plan::small_job().model;
  given.known_model->encoder = planned.job.model.encoder;
  given.batch = fmt::format("{}x{}", planned.job.sequences, planned.job.length);
  const launch_scripts::SourceFile file{std::string(target), text};
  return import_plan_files(target, {&file, 1}, given).planned.job.model;
}

TEST(WrittenPrograms, WhatIsFrozenIsSaidOrRefused) {
  plan::PlannedJob planned = frozen_job({.embedding = true, .first = 1, .layers = 2});
  for (const std::string_view target : {"axolotl", "accelerate", "deepspeed"}) {
    SCOPED_TRACE(target);
    EXPECT_EQ(read_model_again(target, planned, text_of(target, planned)).frozen,
              planned.job.model.frozen);
  }
  for (const std::string_view target : {"megatron", "fsdp", "llama-factory"}) {
    EXPECT_THAT([&] { export_plan(target, planned, "", true); },
                testing::ThrowsMessage<Error>(
                    HasSubstr("its files cannot express: frozen parts (they are trained there)")));
  }
  planned.job.model.frozen = {};
  planned.job.model.adapters = model::LoraAdapters{.rank = 8, .alpha = 16};
  planned.job.model.adapters->targets = model::possible_adapter_targets(planned.job.model);
  for (const std::string_view target : {"accelerate", "deepspeed", "axolotl"}) {
    SCOPED_TRACE(target);
    EXPECT_EQ(read_model_again(target, planned, text_of(target, planned)).adapters,
              planned.job.model.adapters);
  }
  EXPECT_THAT([&] { export_plan("fsdp", planned, "", true); },
              testing::ThrowsMessage<Error>(
                  HasSubstr("its files cannot express: adapters (all weights are trained there)")));
}

TEST(WrittenPrograms, AxolotlFreezesAnEncoder) {
  plan::PlannedJob planned = frozen_job({.encoder = true, .layers = 1});
  planned.job.model.encoder = model::ImageEncoder{.parameters = 1000, .projector = 100};
  const std::string text = text_of("axolotl", planned);
  EXPECT_THAT(text, HasSubstr("(model.)?(language_model.)?(model.)?layers.(0)."));
  EXPECT_EQ(read_model_again("axolotl", planned, text).frozen, planned.job.model.frozen);
  planned.job.model.frozen = {.encoder = true, .projector = true, .first = 1, .layers = 1};
  const std::string both = text_of("axolotl", planned);
  EXPECT_THAT(both, HasSubstr("freeze_mm_modules: true"));
  EXPECT_EQ(read_model_again("axolotl", planned, both).frozen, planned.job.model.frozen);
}

/// Returns the parts that these patterns freeze; nullopt: the patterns are listed as not read.
std::optional<model::FrozenModelParts> frozen_by(const std::string& patterns) {
  plan::PlannedJob planned = frozen_job({});
  planned.job.model.encoder = model::ImageEncoder{.parameters = 1000, .projector = 100};
  UserFacts given;
  given.known_cluster = planned.job.cluster;
  given.known_model = planned.job.model;
  const launch_scripts::SourceFile file{
      "train.yaml",
      "base_model: ./model\nmicro_batch_size: 1\nsequence_len: 4096\n"
      "unfrozen_parameters: " +
          patterns + "\n"};
  const ImportedPlan plan = import_plan_files("axolotl", {&file, 1}, given);
  const bool left = std::ranges::any_of(plan.report.not_read, [](const SettingNotInPlan& one) {
    return one.name.starts_with("unfrozen_parameters") && one.matters == SettingImpact::kYes;
  });
  if (left) return std::nullopt;
  return plan.planned.job.model.frozen;
}

TEST(WrittenPrograms, PatternsOfAxolotlNameWholePartsOrAreLeftOut) {
  EXPECT_EQ(frozen_by("[model.language_model.*, lm_head]"),
            (model::FrozenModelParts{.encoder = true, .projector = true}));
  EXPECT_EQ(frozen_by("[model.language_model, lm_head, model.multi_modal_projector.*]"),
            (model::FrozenModelParts{.encoder = true}));
  EXPECT_EQ(frozen_by("[\"^(?!(model.)?(vision_tower.))\"]"), std::nullopt);
  EXPECT_EQ(frozen_by("[model.language_model.layers.1, lm_head]"), std::nullopt);
  EXPECT_EQ(frozen_by("[\"^model.language_model.embed_tokens.weight$[:100]\"]"), std::nullopt);
  EXPECT_EQ(frozen_by("[\"((a*)*)*b\"]"), std::nullopt);
}

TEST(WrittenPrograms, SwiftStartsMegatron) {
  EXPECT_THAT(text_of("ms-swift", planned_on({.tensor = 2, .pipeline = 2, .data = 4}, "NNG")),
              AllOf(HasSubstr("megatron sft"), HasSubstr("--tensor_model_parallel_size 2"),
                    HasSubstr("--recompute_granularity none"), HasSubstr("--train_iters 100")));
  plan::PlannedJob chunks = planned_on({.pipeline = 2, .data = 8}, "NNG");
  chunks.plan.schedule = {.kind = schedule::PipelineScheduleKind::kInterleaved, .chunks = 2};
  EXPECT_THAT(text_of("ms-swift", chunks), HasSubstr("--virtual_pipeline_model_parallel_size 2"));
  plan::PlannedJob groups = planned_on({.data = 16}, "NNI");
  groups.plan.sharding.group = 4;
  EXPECT_THAT(refusal_of("ms-swift", groups),
              HasSubstr("sharding NNI: megatron-core (ms-swift) supports only NNN, NNG"));
}

/// Returns a job with documents of a quarter of a sequence, packed in order.
plan::PlannedJob packed_job(const packing::Packing& packing) {
  plan::PlannedJob planned = planned_on({.data = 16}, "GGG");
  plan::PackedDocumentBatch documents{.lengths = {{planned.job.length / 4, 1}}, .packing = packing};
  documents.packs =
      packing::packed_sequence_statistics(documents.lengths, packing, planned.job.length);
  planned.job.documents = documents;
  return planned;
}

std::string notes_of(std::string_view word, const plan::PlannedJob& planned) {
  return fmt::format("{}", fmt::join(export_plan(word, planned, "", true).notes, "\n"));
}

TEST(WrittenPrograms, SayHowDocumentsArePacked) {
  const plan::PlannedJob own = packed_job({.kind = packing::PackingKind::kFirstFit,
                                           .order = packing::PackingOrder::kAsTheyCome,
                                           .group = 5000,
                                           .too_long = packing::LongDocumentPolicy::kTruncate});
  EXPECT_THAT(
      text_of("axolotl", own),
      AllOf(HasSubstr("sample_packing: true"), HasSubstr("group_size: 5000"),
            HasSubstr("pad_to_sequence_len: true"), HasSubstr("excess_length_strategy: truncate")));
  EXPECT_THAT(notes_of("axolotl", own), Not(HasSubstr("batch.packing")));
  EXPECT_THAT(text_of("llama-factory", own),
              AllOf(HasSubstr("stage: sft"), HasSubstr("neat_packing: true"),
                    HasSubstr("preprocessing_batch_size: 5000")));
  EXPECT_THAT(
      notes_of("llama-factory", own),
      HasSubstr("`batch.packing.order` is longest in the framework and arrival in the plan"));
  EXPECT_THAT(text_of("ms-swift", own),
              AllOf(HasSubstr("--packing true"), HasSubstr("--truncation_strategy right")));
  EXPECT_THAT(notes_of("ms-swift", own),
              HasSubstr("`batch.packing.pad_to` is none in the framework and length in the plan"));
  EXPECT_THAT(notes_of("deepspeed", own), HasSubstr("does not state how documents are packed"));
  EXPECT_THAT(text_of("axolotl", packed_job({.kind = packing::PackingKind::kGreedy})),
              HasSubstr("sample_packing_sequentially: true"));
}

TEST(WrittenPrograms, BridgeSaysAdaptersAndWhatTheyKeep) {
  plan::PlannedJob planned = planned_on({.tensor = 2, .data = 8}, "NNG");
  planned.plan.sequence_parallel = true;
  planned.job.model.adapters = model::LoraAdapters{.rank = 8, .alpha = 16, .joined = true};
  planned.job.model.adapters->targets = model::possible_adapter_targets(planned.job.model);
  const std::string gathers = "sequence_parallel_input_regather=True";
  for (const plan::GatheredInputPolicy input :
       {plan::GatheredInputPolicy::kKeep, plan::GatheredInputPolicy::kRegather}) {
    planned.plan.tensor_input = input;
    const LaunchFile file = export_plan("nemo", planned, "");
    EXPECT_THAT(file.text,
                AllOf(HasSubstr("peft=LoRA("), HasSubstr("\"linear_qkv\", \"linear_proj\""),
                      HasSubstr("dim=8"), HasSubstr("alpha=16")));
    EXPECT_EQ(file.text.find(gathers) != std::string::npos,
              input == plan::GatheredInputPolicy::kRegather);
    EXPECT_EQ(file.started.plan.tensor_input, input);
  }
  EXPECT_NO_THROW(export_plan("ms-swift", planned, ""));
  planned.plan.tensor_input = plan::GatheredInputPolicy::kKeep;
  EXPECT_THAT(refusal_of("ms-swift", planned), HasSubstr("tensor_input keep: "));
}

TEST(WrittenPrograms, BridgeSaysAttentionInFp8) {
  plan::PlannedJob planned = planned_on({.data = 16}, "NNG");
  planned.job.cluster = *cluster::built_in_cluster("dgx-h100", 2);
  planned.job.precision = DType::kFp8;
  planned.job.kernels.narrow_parameters = true;  // as its recipes
  EXPECT_THAT(text_of("nemo", planned), HasSubstr("bf16_with_fp8_delayed_scaling_mixed"));
  planned.job.kernels.narrow_attention = true;
  const LaunchFile file = export_plan("nemo", planned, "", true);
  EXPECT_TRUE(file.started.job.kernels.narrow_attention);
  EXPECT_THAT(file.text, HasSubstr("fp8_dot_product_attention=True"));
  UserFacts given;
  given.known_cluster = planned.job.cluster;
  given.known_model = planned.job.model;
  given.batch = fmt::format("{}x{}", planned.job.sequences, planned.job.length);
  const launch_scripts::SourceFile source{"recipe.py", file.text};
  EXPECT_TRUE(import_plan_files("nemo", {&source, 1}, given).planned.job.kernels.narrow_attention);
  EXPECT_FALSE(export_plan("megatron", planned, "", true).started.job.kernels.narrow_attention);
}

TEST(WrittenPrograms, SayHowNarrowParametersAreStored) {
  plan::PlannedJob planned = planned_on({.tensor = 2, .data = 8}, "NNG");
  planned.job.cluster = *cluster::built_in_cluster("dgx-h100", 2);
  planned.job.precision = DType::kFp8;
  UserFacts given;
  given.known_cluster = planned.job.cluster;
  given.known_model = planned.job.model;
  given.batch = fmt::format("{}x{}", planned.job.sequences, planned.job.length);
  for (const bool narrow : {false, true}) {
    planned.job.kernels.narrow_parameters = narrow;
    for (const std::string target : {"nemo", "megatron"}) {
      const LaunchFile file = export_plan(target, planned, "", true);
      const launch_scripts::SourceFile source{target == "nemo" ? "recipe.py" : "train.sh",
                                              file.text};
      const ImportedPlan draft = import_plan_files(target, {&source, 1}, given);
      EXPECT_EQ(draft.planned.job.kernels.narrow_parameters, narrow) << target;
    }
  }
}

TEST(WrittenPrograms, NemoRlSaysItsPolicy) {
  EXPECT_THAT(text_of("nemo-rl", planned_on({.tensor = 2, .data = 8}, "NNG")),
              AllOf(HasSubstr("tensor_model_parallel_size: 2"),
                    HasSubstr("use_distributed_optimizer: true"), HasSubstr("gpus_per_node: 8")));
  EXPECT_THAT(
      refusal_of("nemo-rl", planned_on({.context = 2, .data = 8}, "NNG")),
      HasSubstr("parallel context: megatron-core (nemo-rl) supports only tensor, pipeline"));
}

plan::PlannedJob planned_method(plan::TrainingMethodKind kind) {
  plan::PlannedJob planned = planned_on({.tensor = 2, .data = 8}, "NNG");
  planned.job.method.kind = kind;
  planned.plan.micro_batch = 2;
  if (plan::training_method_generates_sequences(kind))
    planned.job.method.rollout = plan::RolloutSettings{.tokens_per_s = 2000};
  return planned;
}

TEST(WrittenPrograms, NoFileLearnsByAnotherMethodInSilence) {
  for (const std::string& word : export_target_names()) {
    for (const plan::TrainingMethodKind kind :
         {plan::TrainingMethodKind::kDpo, plan::TrainingMethodKind::kGrpo,
          plan::TrainingMethodKind::kPpo}) {
      const std::string method(name_of(plan::kMethodNames, kind));
      try {
        const LaunchFile file = export_plan(word, planned_method(kind), "", true);
        EXPECT_THAT(file.text + fmt::format("{}", fmt::join(file.notes, "")), HasSubstr(method))
            << word;
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
        EXPECT_THAT(error.what(), AllOf(HasSubstr("objective.kind " + method), HasSubstr(word)));
      }
    }
  }
}

TEST(WrittenPrograms, NemoRlSaysGrpo) {
  plan::PlannedJob planned = planned_method(plan::TrainingMethodKind::kGrpo);
  planned.job.method.updates = 4;
  EXPECT_THAT(text_of("nemo-rl", planned),
              AllOf(HasSubstr("examples/run_grpo.py"), HasSubstr("num_prompts_per_step: 8"),
                    HasSubstr("num_generations_per_prompt: 16"), HasSubstr("backend: vllm"),
                    Not(HasSubstr("sft"))));
  planned.job.method.rollout->devices = 8;
  EXPECT_THAT(text_of("nemo-rl", planned),
              AllOf(HasSubstr("resources: {gpus_per_node: 8, num_nodes: 1}"),
                    HasSubstr("async_grpo: {enabled: true"), HasSubstr("num_nodes: 3")));
  planned.job.method.rollout->devices = 4;
  EXPECT_THAT([&] { text_of("nemo-rl", planned); },
              testing::ThrowsMessage<Error>(HasSubstr("generates on whole nodes of 8 devices")));
  planned.job.method.rollout->devices = 0;
  planned.job.method.reference = {.place = plan::SecondModelPlace::kOther, .devices = 8};
  EXPECT_THAT([&] { text_of("nemo-rl", planned); },
              testing::ThrowsMessage<Error>(HasSubstr("objective.reference {devices: 8}")));
}

TEST(WrittenPrograms, NemoRlCountsPairs) {
  plan::PlannedJob planned = planned_method(plan::TrainingMethodKind::kDpo);
  const LaunchFile file = export_plan("nemo-rl", planned, "");
  EXPECT_THAT(
      file.text,
      AllOf(HasSubstr("examples/run_dpo.py"),
            HasSubstr(fmt::format("train_global_batch_size: {}\n", planned.job.sequences / 2)),
            HasSubstr("train_micro_batch_size: 1\n")));
  EXPECT_EQ(file.started.plan.micro_batch, 2);
  planned.plan.micro_batch = 1;
  EXPECT_EQ(export_plan("nemo-rl", planned, "", true).started.plan.micro_batch, 2);
}

TEST(WrittenPrograms, NemoRlNamesTheClassOfTheModel) {
  plan::PlannedJob planned = planned_on({.tensor = 2, .data = 8}, "NNG");
  planned.job.model = *model::built_in_model("qwen2.5-7b");
  EXPECT_THAT(text_of("nemo-rl", planned), HasSubstr("converter_type: Qwen2ForCausalLM"));
}

plan::PlannedJob planned_context(std::int64_t length) {
  plan::PlannedJob planned = planned_on({.context = 2, .data = 8}, "GGG");
  planned.plan.context_kind = plan::ContextKind::kAllGather;
  planned.job.model.positions = planned.job.length = length;
  planned.job.cluster = cluster::load_cluster("dgx-h100", 2);
  return planned;
}

TEST(WrittenPrograms, TorchtitanHasNoAttentionOfVariableLengthBesideContext) {
  plan::PlannedJob planned = planned_context(1024);
  planned.job.kernels.attention = cluster::AttentionKernel::kFlash3;
  const LaunchFile file = export_plan("torchtitan", planned, "", true);
  EXPECT_THAT(file.text, AllOf(HasSubstr("attn_backend=\"flex\""), Not(HasSubstr("varlen")),
                               HasSubstr("context_parallel_degree=2")));
  EXPECT_THAT(file.notes,
              testing::Contains(HasSubstr("The file uses attention flash2, not flash3")));
  planned.plan.parallel = {.data = 16};
  EXPECT_THAT(text_of("torchtitan", planned), HasSubstr("attn_backend=\"varlen\""));
}

TEST(WrittenPrograms, ContextRanksOfTorchtitanHaveWholeBlocks) {
  EXPECT_NO_THROW(text_of("torchtitan", planned_context(256)));
  EXPECT_THAT([] { text_of("torchtitan", planned_context(320)); },
              testing::ThrowsMessage<Error>(HasSubstr("batch.length 320: torchtitan's context")));
}

TEST(WrittenPrograms, TorchtitanTiesNoHeadOverStages) {
  plan::PlannedJob planned = planned_on({.pipeline = 2, .data = 8}, "NNG");
  planned.job.model.tied = true;
  EXPECT_THAT([&] { export_plan("torchtitan", planned, ""); },
              testing::ThrowsMessage<Error>(HasSubstr("model tied: torchtitan supports only")));
}

TEST(WrittenPrograms, TorchtuneNamesAllShardsAndARateForAdapters) {
  plan::PlannedJob planned = planned_on({.data = 16}, "GGG");
  EXPECT_THAT(text_of("torchtune", planned),
              AllOf(HasSubstr("checkpoint_files: [model.safetensors]"), HasSubstr("lr: 2.0e-5")));
  planned.job.model = *model::built_in_model("llama-3-8b");
  planned.job.model_name = "llama-3-8b";
  planned.job.model.adapters = model::LoraAdapters{};
  planned.job.model.adapters->targets.set(model::place_of(model::LoraTargetProduct::kQuery));
  EXPECT_THAT(text_of("torchtune", planned),
              AllOf(HasSubstr("max_filename: \"00004\""), HasSubstr("lr: 3.0e-4"),
                    HasSubstr("path: \"./models/llama-3-8b/original/tokenizer.model\"")));
  planned.job.model = *model::built_in_model("qwen3-14b");
  planned.job.model_name = "qwen3-14b";
  EXPECT_THAT(text_of("torchtune", planned),
              AllOf(HasSubstr("max_filename: \"00008\""), HasSubstr("qwen3.qwen3_tokenizer"),
                    HasSubstr("merges_file: \"./models/qwen3-14b/merges.txt\"")));
}

TEST(WrittenPrograms, LlamaFactoryFineTunesWhatAJobFineTunes) {
  plan::PlannedJob planned = planned_on({.data = 16}, "GGG");
  EXPECT_THAT(text_of("llama-factory", planned), HasSubstr("stage: pt"));
  planned.job.method.kind = plan::TrainingMethodKind::kSft;
  EXPECT_THAT(text_of("llama-factory", planned),
              AllOf(HasSubstr("stage: sft"), HasSubstr("packing: true")));
}

TEST(WrittenPrograms, TheNameOfAFrameworkStandsForTheWordOfItsFiles) {
  const plan::PlannedJob planned = planned_on({.data = 16}, "NNG");
  EXPECT_EQ(export_plan("megatron-core", planned, "", true).text, text_of("megatron", planned));
}

TEST(WrittenPrograms, TokensThatTravelOncePerNodeAreDeepEp) {
  plan::PlannedJob planned;
  planned.job = plan::small_expert_job();
  planned.job.dispatcher = plan::TokenDispatcher::kOncePerNode;
  planned.plan.parallel = {.expert = 4, .data = 16};
  planned.plan.sharding = *plan::sharding_named_by_word("NNG");
  EXPECT_THAT(text_of("ms-swift", planned), AllOf(HasSubstr("--moe_token_dispatcher_type flex"),
                                                  HasSubstr("--moe_enable_deepep true")));
  EXPECT_THAT(text_of("nemo-rl", planned), AllOf(HasSubstr("moe_token_dispatcher_type: flex"),
                                                 HasSubstr("moe_enable_deepep: true")));
  for (const std::string target : {"ms-swift", "nemo-rl"}) {
    UserFacts given;
    given.known_cluster = planned.job.cluster;
    given.known_model = planned.job.model;
    given.batch = fmt::format("{}x{}", planned.job.sequences, planned.job.length);
    launch_scripts::SourceFile file{target, export_plan(target, planned, "").text};
    EXPECT_EQ(import_plan_files(target, {&file, 1}, given).planned.job.dispatcher,
              plan::TokenDispatcher::kOncePerNode);
    if (target != "nemo-rl") continue;
    file.text.replace(file.text.find("type: flex"), 10, "type: alltoall");
    EXPECT_THAT([&] { import_plan_files(target, {&file, 1}, given); },
                testing::ThrowsMessage<Error>(HasSubstr("needs moe_token_dispatcher_type flex")));
  }
}

}  // namespace
}  // namespace stepwright::framework_files
