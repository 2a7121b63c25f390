#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "stepwright/core/error.h"
#include "stepwright/framework_files/launch_file.h"
#include "stepwright/model/catalog.h"

namespace stepwright::framework_files {
namespace {

using testing::HasSubstr;

constexpr const char* kMegatronSft = R"(# 16 devices
NNODES=2 NPROC_PER_NODE=8 \
megatron sft \
    --model Qwen/Qwen2.5-7B-Instruct \
    --dataset 'AI-ModelScope/alpaca-gpt4-data-zh#500' \
              'swift/self-cognition#500' \
    --tensor_model_parallel_size 2 \
    --pipeline_model_parallel_size 2 \
    --sequence_parallel true \
    --micro_batch_size 2 \
    --global_batch_size 64 \
    --recompute_granularity full \
    --recompute_method uniform \
    --recompute_num_layers 1 \
    --lr 1e-5 \
    --packing true \
    --no_save_optim true \
    --overlap_grad_reduce false \
    --max_length 4096
)";

constexpr const char* kSwiftSft = R"(NPROC_PER_NODE=8 CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7 \
swift sft \
    --model Qwen/Qwen2.5-32B \
    --train_type full \
    --torch_dtype bfloat16 \
    --per_device_train_batch_size 1 \
    --gradient_accumulation_steps 2 \
    --max_length 8192 \
    --deepspeed zero3 \
    --use_liger_kernel true \
    --attn_impl flash_attn
)";

ImportedPlan swift_of(const std::string& text, const std::string& cluster = "dgx-h100",
                      const std::string& name = "train.sh") {
  UserFacts given;
  given.cluster = cluster;
  const launch_scripts::SourceFile file{name, text};
  return import_plan_files("", {&file, 1}, given);
}

TEST(Swift, ASwitchOfTorchrunHidesNoCommand) {
  std::string text = kSwiftSft;
  const std::string front = "NPROC_PER_NODE=8 CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7 \\\nswift";
  text.replace(text.find(front), front.size(), "torchrun --nproc_per_node 4 --standalone swift");
  EXPECT_EQ(swift_of(text).planned.job.cluster.devices(), 4);
}

TEST(Swift, CountsTheProcessesOfATorchrunInAContainer) {
  std::string text = kSwiftSft;
  const std::string front = "NPROC_PER_NODE=8 CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7 \\\nswift";
  text.replace(text.find(front), front.size(),
               "timeout --signal=TERM 2400 apptainer exec --nv --env A=1 train.sif \\\n"
               "/opt/bin/torchrun --standalone --nproc_per_node=4 /opt/bin/swift");
  const ImportedPlan plan = swift_of(text);
  EXPECT_EQ(plan.planned.job.cluster.devices(), 4);
  EXPECT_TRUE(std::ranges::none_of(plan.report.not_read, [](const SettingNotInPlan& one) {
    return one.name == "nproc_per_node" || one.name == "env";
  }));
}

TEST(Swift, OneProcessIsStartedWithoutItsVariable) {
  std::string text = kSwiftSft;
  const std::string words = "NPROC_PER_NODE=8 CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7";
  const std::size_t at = text.find(words);
  text.replace(at, words.size(), "CUDA_VISIBLE_DEVICES=0");
  EXPECT_EQ(swift_of(text).planned.job.cluster.devices(), 1);
  text.replace(text.find("DEVICES=0"), 9, "DEVICES=0,1");
  EXPECT_THAT([&] { swift_of(text); },
              testing::ThrowsMessage<Error>(HasSubstr("spreads the layers over them")));
}

constexpr const char* kSwiftGrpo =
    "NPROC_PER_NODE=2 swift rlhf --rlhf_type grpo --model Qwen/Qwen2.5-3B-Instruct \\\n"
    "  --external_plugins rewards/mine.py --reward_funcs mine_first mine_second \\\n"
    "  --train_type full --torch_dtype bfloat16 --max_length 2048 --max_completion_length 1024 \\\n"
    "  --per_device_train_batch_size 2 --gradient_accumulation_steps 4 --num_generations 8 \\\n"
    "  --deepspeed zero3 ";

// A Python file among the arguments is none that is started.
TEST(Swift, SequencesOfGrpoArePromptAndCompletion) {
  const ImportedPlan made = swift_of(std::string(kSwiftGrpo) + "--num_iterations 1\n");
  const auto& [job, plan] = made.planned;
  EXPECT_EQ(job.model_name, "qwen2.5-3b");
  EXPECT_EQ(job.length, 2048 + 1024);
  EXPECT_EQ(job.sequences, 2 * 2 * 4);
  EXPECT_EQ(job.method.kind, plan::TrainingMethodKind::kGrpo);
  EXPECT_EQ(job.method.reference.place, plan::SecondModelPlace::kSame);
  ASSERT_TRUE(job.method.rollout.has_value());
  EXPECT_EQ(job.method.rollout->prompt, 2048);
  const ImportedPlan alone = swift_of(std::string(kSwiftGrpo) + "--beta 0\n");
  EXPECT_EQ(alone.planned.job.method.reference.place, plan::SecondModelPlace::kNone);
}

TEST(Swift, PairsOfPreferencesAreTwoSequences) {
  std::string text = kSwiftSft;
  text.replace(text.find("swift sft"), 9, "swift rlhf --rlhf_type dpo");
  const auto& [job, plan] = swift_of(text).planned;
  EXPECT_EQ(job.method.kind, plan::TrainingMethodKind::kDpo);
  EXPECT_EQ(job.sequences, 2 * 8 * 2);
  EXPECT_EQ(plan.micro_batch, 2);
}

TEST(Swift, PoliciesUnderMegatronAddTheCompletionToTheLength) {
  std::string text = kMegatronSft;
  text.replace(text.find("megatron sft"), 12,
               "megatron rlhf --rlhf_type grpo --external_plugins mine.py --top_k 20 \\\n   "
               "--max_completion_length 1024");
  const ImportedPlan made = swift_of(text);
  EXPECT_EQ(made.planned.job.length, 4096 + 1024);
  EXPECT_EQ(made.planned.job.sequences, 64);
  EXPECT_EQ(made.planned.job.method.kind, plan::TrainingMethodKind::kGrpo);
  EXPECT_EQ(std::ranges::count(made.report.not_read, true, &SettingNotInPlan::is_unknown_setting),
            0);
}

TEST(Swift, ReadsFsdpThatIsWrittenOut) {
  const std::string text =
      "NPROC_PER_NODE=8 swift sft --model Qwen/Qwen3-8B --tuner_type full --torch_dtype bfloat16 "
      "--max_length 4096 --per_device_train_batch_size 1 --gradient_accumulation_steps 1 --fsdp "
      "'{\"fsdp\": \"full_shard auto_wrap\", \"fsdp_config\": {\"reshard_after_forward\": SHARD, "
      "\"activation_checkpointing\": true}}'\n";
  const auto sharded = [&](const char* shard) {
    std::string said = text;
    said.replace(said.find("SHARD,"), 5, shard);
    return swift_of(said).planned.plan;
  };
  EXPECT_EQ(plan::sharding_letters(sharded("true").sharding), "GGG");
  EXPECT_EQ(plan::sharding_letters(sharded("false").sharding), "NGG");
  EXPECT_EQ(sharded("true").recompute.kind, plan::RecomputeKind::kFull);
}

TEST(Swift, AdaptersBesideTheLanguageModelAreAdaptersOfText) {
  std::string text = kSwiftSft;
  text.replace(text.find("--train_type full"), 17, "--tuner_type lora_llm");
  EXPECT_TRUE(swift_of(text).planned.job.model.adapters.has_value());
}

std::string swift_leaves_out(const ImportedPlan& plan, std::string_view name) {
  for (const SettingNotInPlan& one : plan.report.not_read) {
    if (one.name == name && one.matters == SettingImpact::kYes) return one.why;
  }
  return "";
}

/// Returns the parts of a model with an image encoder that a setting freezes.
model::FrozenModelParts frozen_of(const std::string& word, const std::string& text) {
  UserFacts given;
  given.cluster = "dgx-h100:1";
  given.known_model = model::built_in_model("llama-3-8b").value();
  given.known_model->encoder = model::ImageEncoder{
      .name = "tower", .parameters = 1'000'000, .patches = 64, .tokens = 16, .flops = 1e9};
  const launch_scripts::SourceFile file{word == "ms-swift" ? "train.sh" : "train.yaml", text};
  return import_plan_files(word, {&file, 1}, given).planned.job.model.frozen;
}

TEST(Swift, EncodersOfImagesRestUnlessAFileTrainsThem) {
  const std::string sft = R"(NPROC_PER_NODE=8 swift sft --model some/vl --train_type full \
    --torch_dtype bfloat16 --per_device_train_batch_size 1 --max_length 4096 --deepspeed zero3)";
  EXPECT_EQ(frozen_of("ms-swift", sft),
            (model::FrozenModelParts{.encoder = true, .projector = true}));
  EXPECT_EQ(frozen_of("ms-swift", sft + " --freeze_vit false --freeze_aligner false"),
            model::FrozenModelParts{});
  const std::string factory =
      "model_name_or_path: some/vl\nstage: sft\nfinetuning_type: full\ncutoff_len: 4096\n"
      "per_device_train_batch_size: 1\nbf16: true\n";
  EXPECT_EQ(frozen_of("llama-factory", factory),
            (model::FrozenModelParts{.encoder = true, .projector = true}));
  EXPECT_EQ(frozen_of("llama-factory", factory + "freeze_multi_modal_projector: false\n"),
            model::FrozenModelParts{.encoder = true});
}

TEST(Swift, ReadsMegatronsWordsWithUnderscores) {
  const ImportedPlan imported = swift_of(kMegatronSft, "dgx-h100:2");
  EXPECT_EQ(imported.target, "ms-swift");
  const plan::PlannedJob& planned = imported.planned;
  EXPECT_EQ(planned.job.model_name, "qwen2.5-7b");
  EXPECT_EQ(planned.job.framework.name, "megatron-core");
  EXPECT_EQ(planned.plan.parallel.tensor, 2);
  EXPECT_EQ(planned.plan.parallel.pipeline, 2);
  EXPECT_EQ(planned.plan.parallel.data, 4);
  EXPECT_TRUE(planned.plan.sequence_parallel);
  EXPECT_EQ(planned.plan.micro_batch, 2);
  EXPECT_EQ(planned.job.sequences, 64);
  EXPECT_EQ(planned.job.length, 4096);
  EXPECT_EQ(planned.job.precision, DType::kBf16);
  EXPECT_EQ(planned.plan.accumulate, DType::kFp32);
  EXPECT_EQ(planned.plan.recompute.kind, plan::RecomputeKind::kFull);
  EXPECT_EQ(plan::sharding_letters(planned.plan.sharding), "NNG");
  EXPECT_FALSE(planned.plan.overlap.gradients);
}

TEST(Swift, ArgumentsThatAPersonGivesStandInThePlaceOfTheScripts) {
  const auto with = [](const char* text, const std::string& setting) {
    UserFacts given;
    given.cluster = text == kSwiftSft ? "dgx-h100" : "dgx-h100:2";
    given.settings = {setting};
    const launch_scripts::SourceFile file{"train.sh", text};
    return import_plan_files("", {&file, 1}, given).planned;
  };
  EXPECT_EQ(with(kMegatronSft, "tensor_model_parallel_size=4").plan.parallel.tensor, 4);
  EXPECT_EQ(with(kSwiftSft, "--max_length=4096").job.length, 4096);
  EXPECT_THROW(with(kSwiftSft, "max_length"), Error);
  EXPECT_THROW(with(kSwiftSft, "=4096"), Error);
}

TEST(Swift, ListsVariablesOfLibraries) {
  const ImportedPlan imported =
      swift_of("export NCCL_ALGO=Ring,Tree\n" + std::string(kSwiftSft), "dgx-h100");
  EXPECT_NE(std::ranges::find(imported.report.not_read, "NCCL_ALGO", &SettingNotInPlan::name),
            imported.report.not_read.end());
}

TEST(Swift, SaysWhereEachOfThemWasRead) {
  const ImportedPlan imported = swift_of(kMegatronSft, "dgx-h100:2");
  const auto tensor = std::ranges::find(imported.report.read, "--tensor_model_parallel_size",
                                        &ImportedSetting::name);
  ASSERT_NE(tensor, imported.report.read.end());
  EXPECT_EQ(tensor->line, 7U);
  EXPECT_EQ(tensor->field, "parallel.tensor");
  EXPECT_THAT(swift_leaves_out(imported, "packing"), HasSubstr("documents"));
  for (const ImportedSetting& one : imported.report.read) EXPECT_NE(one.line, 0U) << one.name;
}

TEST(Swift, ItsDefaultsOfMegatronAreItsOwn) {
  const ImportedPlan imported = swift_of(
      "NPROC_PER_NODE=8 megatron sft --load Qwen3-8B-mcore --max_length 2048 --tuner_type lora\n");
  EXPECT_EQ(imported.planned.job.model_name, "qwen3-8b");
  EXPECT_EQ(imported.planned.job.sequences, 16);
  EXPECT_EQ(imported.planned.plan.recompute.kind, plan::RecomputeKind::kSelective);
  EXPECT_EQ(plan::sharding_letters(imported.planned.plan.sharding), "NNG");
}

TEST(Swift, ExpertsAreWholeUnlessItSaysOtherwise) {
  const ImportedPlan imported = swift_of(
      "NPROC_PER_NODE=8 megatron sft --model Qwen/Qwen3-30B-A3B-Instruct-2507 --max_length 2048 "
      "--tensor_model_parallel_size 2 --expert_model_parallel_size 8 --sequence_parallel true\n");
  EXPECT_EQ(imported.planned.plan.parallel.expert, 8);
  EXPECT_EQ(imported.planned.plan.parallel.expert_tensor, 1);
}

TEST(Swift, ReadsTrainersWordsWithItsOwnDeepSpeed) {
  const ImportedPlan imported = swift_of(kSwiftSft);
  const plan::PlannedJob& planned = imported.planned;
  EXPECT_EQ(planned.job.model_name, "qwen2.5-32b");
  EXPECT_EQ(planned.job.framework.name, "deepspeed");
  EXPECT_EQ(plan::sharding_letters(planned.plan.sharding), "GGG");
  EXPECT_EQ(planned.plan.parallel.data, 8);
  EXPECT_EQ(planned.job.sequences, 16);
  EXPECT_EQ(planned.job.length, 8192);
  EXPECT_EQ(planned.plan.gradient_bucket, 5120 * 5120);
  EXPECT_FALSE(planned.plan.overlap.gradients);
  EXPECT_EQ(planned.plan.recompute.kind, plan::RecomputeKind::kFull);
  EXPECT_EQ(planned.job.kernels.attention, cluster::AttentionKernel::kFlash2);
  EXPECT_TRUE(planned.job.kernels.fused_loss());
  EXPECT_EQ(planned.job.kernels.loss_keeps, plan::LossSavedTensors::kGradients);
  EXPECT_EQ(planned.job.kernels.loss_chunks, 0) << "by the sizes of the model";
}

TEST(Swift, AccumulatesSixteenSequencesAndTrainsAdaptersWhereNothingIsSaid) {
  const ImportedPlan imported = swift_of(
      "model: Qwen/Qwen2.5-7B-Instruct\ntorch_dtype: bfloat16\nmax_length: 2048\n"
      "train_type: lora\nsequence_parallel_size: 2\nper_device_train_batch_size: 4\n",
      "dgx-h100", "sft.yaml");
  EXPECT_EQ(imported.planned.plan.parallel.context, 2);
  EXPECT_EQ(imported.planned.plan.context_kind, plan::ContextKind::kUlysses);
  EXPECT_EQ(imported.planned.plan.micro_batch, 4);
  const std::optional<model::LoraAdapters>& adapters = imported.planned.job.model.adapters;
  ASSERT_TRUE(adapters.has_value());
  EXPECT_EQ(adapters->rank, 8);
  EXPECT_EQ(adapters->alpha, 32);
  EXPECT_TRUE(adapters->has(model::LoraTargetProduct::kQuery) &&
              adapters->has(model::LoraTargetProduct::kFc2));
}

TEST(Swift, AsksForAModelByName) {
  try {
    swift_of("NPROC_PER_NODE=8 megatron sft --model nobody/own-9b --max_length 2048\n");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("--model"), HasSubstr("nobody/own-9b")));
  }
}

TEST(Swift, ScriptsOfTransformersTrainerAreReadLikeTheirArguments) {
  const ImportedPlan imported = swift_of(
      "torchrun --nproc_per_node 8 run_clm.py --model_name_or_path meta-llama/Llama-3.1-8B \\\n"
      "  --per_device_train_batch_size 2 --gradient_accumulation_steps=4 --bf16 \\\n"
      "  --fsdp 'full_shard auto_wrap' --block-size 4096 --gradient_checkpointing True\n");
  EXPECT_EQ(imported.target, "hf");
  EXPECT_EQ(plan::sharding_letters(imported.planned.plan.sharding), "GGG");
  EXPECT_EQ(imported.planned.job.sequences, 64);
  EXPECT_EQ(imported.planned.job.length, 4096);
  EXPECT_EQ(imported.planned.job.precision, DType::kBf16);
  EXPECT_EQ(imported.planned.plan.recompute.kind, plan::RecomputeKind::kFull);
}

}  // namespace
}  // namespace stepwright::framework_files
