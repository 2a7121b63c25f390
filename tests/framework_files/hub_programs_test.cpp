#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <string>
#include <vector>

#include "stepwright/core/error.h"
#include "stepwright/framework_files/launch_file.h"

namespace stepwright::framework_files {
namespace {

using testing::HasSubstr;

constexpr const char* kAxolotl = R"(base_model: Qwen/Qwen3-8B
plugins:
  - axolotl.integrations.cut_cross_entropy.CutCrossEntropyPlugin
dp_shard_size: 2
context_parallel_size: 2
tensor_parallel_size: 2
fsdp_version: 2
fsdp_config:
  offload_params: false
  reshard_after_forward: true
sequence_len: 8_192
sample_packing: true
attn_implementation: flash_attention_2
gradient_accumulation_steps: 4
micro_batch_size: 1
optimizer: adamw_torch_fused
bf16: true
special_tokens:
)";

constexpr const char* kFactory = R"(model_name_or_path: meta-llama/Meta-Llama-3-8B-Instruct
stage: sft
finetuning_type: full
deepspeed: examples/deepspeed/ds_z3_config.json
cutoff_len: 1024
per_device_train_batch_size: 1
gradient_accumulation_steps: 2
learning_rate: 1.0e-4
bf16: true
)";

const launch_scripts::SourceFile kStageThree{"ds_z3_config.json", R"({"train_batch_size": "auto",
  "train_micro_batch_size_per_gpu": "auto", "gradient_accumulation_steps": "auto",
  "fp16": {"enabled": "auto"}, "bf16": {"enabled": "auto"},
  "zero_optimization": {"stage": 3, "overlap_comm": false, "reduce_bucket_size": "auto",
    "stage3_prefetch_bucket_size": "auto", "stage3_param_persistence_threshold": "auto"}})"};

ImportedPlan started(const std::string& text, std::vector<launch_scripts::SourceFile> others = {}) {
  UserFacts given;
  given.cluster = "dgx-h100";
  others.insert(others.begin(), {"train.yaml", text});
  return import_plan_files("", others, given);
}

std::string refused(const std::string& text) {
  try {
    started(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    return error.what();
  }
  return "";
}

std::string left_out_of(const ImportedPlan& plan, std::string_view name) {
  for (const SettingNotInPlan& one : plan.report.not_read) {
    if (one.name == name && one.matters == SettingImpact::kYes) return one.why;
  }
  return "";
}

std::string with(std::string text, const std::string& lines) { return text + lines; }

TEST(Axolotl, ReadsDegreesOnAMesh) {
  const ImportedPlan imported = started(kAxolotl);
  EXPECT_EQ(imported.target, "axolotl");
  const plan::PlannedJob& planned = imported.planned;
  EXPECT_EQ(planned.job.model_name, "qwen3-8b");
  EXPECT_EQ(planned.plan.parallel.data, 2);
  EXPECT_EQ(planned.plan.parallel.context, 2);
  EXPECT_EQ(planned.plan.parallel.tensor, 2);
  EXPECT_EQ(planned.plan.context_kind, plan::ContextKind::kAllGather);
  EXPECT_EQ(plan::sharding_letters(planned.plan.sharding), "GGG");
  EXPECT_EQ(planned.plan.micro_batch, 1);
  EXPECT_EQ(planned.job.sequences, 8);
  EXPECT_EQ(planned.job.length, 8192);
  EXPECT_EQ(planned.job.precision, DType::kBf16);
  EXPECT_EQ(planned.plan.recompute.kind, plan::RecomputeKind::kNone);
  EXPECT_TRUE(planned.job.kernels.fused_loss());
  EXPECT_EQ(planned.job.kernels.loss_keeps, plan::LossSavedTensors::kSums);
}

TEST(Axolotl, WhatIsLeftOfASharedGroupReplicates) {
  std::string text = kAxolotl;
  text.replace(text.find("context_parallel_size: 2"), 24, "context_parallel_size: 1");
  const plan::Plan plan = started(text).planned.plan;
  EXPECT_EQ(plan.parallel.data, 4);
  EXPECT_EQ(plan::sharding_letters(plan.sharding), "III");
  EXPECT_EQ(plan.sharding.group, 2);
  EXPECT_THAT(refused(with(kAxolotl, "dp_replicate_size: 3\n")), HasSubstr("3 (replicate) x 2"));
  EXPECT_THAT(refused("base_model: Qwen/Qwen3-8B\nmicro_batch_size: 1\ndp_shard_size: 2\n"),
              HasSubstr("needs fsdp_config"));
}

TEST(Axolotl, ItsDefaultsAreItsOwn) {
  const plan::PlannedJob planned =
      started("base_model: NousResearch/Llama-3.2-1B\nmicro_batch_size: 2\nbatch_size: 8\n")
          .planned;
  EXPECT_EQ(planned.job.length, 512);
  EXPECT_EQ(planned.job.sequences, 2 * 4 * 8);
  EXPECT_EQ(planned.job.precision, DType::kBf16);
  EXPECT_EQ(plan::sharding_letters(planned.plan.sharding), "NNN");
}

TEST(Axolotl, OffloadAndNarrowWeightsAreLeftOut) {
  const ImportedPlan plan = started(
      "base_model: meta-llama/Llama-3.1-8B\nload_in_4bit: true\n"
      "load_in_8bit: false\nsequence_len: 2048\nmicro_batch_size: 1\n"
      "gradient_checkpointing: offload\noptimizer: paged_adamw_8bit\n"
      "fsdp: [full_shard, auto_wrap]\nfsdp_config: {fsdp_offload_params: true, "
      "fsdp_sharding_strategy: SHARD_GRAD_OP}\n");
  EXPECT_EQ(plan::sharding_letters(plan.planned.plan.sharding), "NGG");
  EXPECT_EQ(plan.planned.plan.recompute.kind, plan::RecomputeKind::kFull);
  EXPECT_THAT(left_out_of(plan, "load_in_4bit"), HasSubstr("4 bits"));
  EXPECT_EQ(left_out_of(plan, "load_in_8bit"), "");
  EXPECT_TRUE(plan.planned.plan.offload.offloads_layer_inputs());
  EXPECT_THAT(left_out_of(plan, "optimizer"), HasSubstr("paging"));
  EXPECT_THAT(left_out_of(plan, "fsdp_config.fsdp_offload_params"), HasSubstr("of adam8bit"));
}

TEST(Axolotl, AModelThatNobodyKnowsIsAskedForByName) {
  EXPECT_THAT(refused("base_model: casperhansen/own-9b\nmicro_batch_size: 1\n"),
              AllOf(HasSubstr("train.yaml:1"), HasSubstr("--model CONFIG.JSON")));
  EXPECT_THAT(refused(with(kAxolotl, "deepspeed: train.yaml\n")), HasSubstr("names this file"));
  EXPECT_THAT(refused("base_model: Qwen/Qwen3-8B\nmicro_batch_size: many\n"),
              HasSubstr("train.yaml:2"));
}

TEST(Axolotl, RingmasterSplitsSequences) {
  const plan::PlannedJob planned =
      started(
          "base_model: NousResearch/Meta-Llama-3.1-8B\nsequence_len: 32768\n"
          "micro_batch_size: 1\ncontext_parallel: {size: 8, backend: auto}\n"
          "dp_shard_size: 1\nfsdp_config: {reshard_after_forward: true}\n")
          .planned;
  EXPECT_EQ(planned.plan.parallel.context, 8);
  EXPECT_EQ(planned.plan.context_kind, plan::ContextKind::kUlysses);
  EXPECT_EQ(plan::sharding_letters(planned.plan.sharding), "GGG");
}

TEST(LlamaFactory, ReadsTrainingWithTheDeepSpeedFileThatItNames) {
  const ImportedPlan imported = started(kFactory, {kStageThree});
  EXPECT_EQ(imported.target, "llama-factory");
  const plan::PlannedJob& planned = imported.planned;
  EXPECT_EQ(planned.job.model_name, "llama-3-8b");
  EXPECT_EQ(planned.job.framework.name, "deepspeed");
  EXPECT_EQ(plan::sharding_letters(planned.plan.sharding), "GGG");
  EXPECT_EQ(planned.plan.gradient_bucket, 4096 * 4096);
  EXPECT_FALSE(planned.plan.overlap.gradients);
  EXPECT_EQ(planned.job.length, 1024);
  EXPECT_EQ(planned.job.sequences, 16);
  EXPECT_EQ(planned.plan.recompute.kind, plan::RecomputeKind::kFull);
  EXPECT_EQ(left_out_of(imported, "finetuning_type"), "");
}

TEST(LlamaFactory, FrozenWeightsAndOtherLossesAreLeftOut) {
  const ImportedPlan plan = started(
      "model_name_or_path: Qwen/Qwen2.5-7B-Instruct\nstage: kto\nfinetuning_type: freeze\n"
      "freeze_trainable_layers: 2\nflash_attn: fa2\ndisable_gradient_checkpointing: "
      "true\nuse_galore: true\n"
      "per_device_train_batch_size: 2\n");
  EXPECT_THAT(left_out_of(plan, "finetuning_type"), HasSubstr("frozen"));
  EXPECT_THAT(left_out_of(plan, "stage"), HasSubstr("loss"));
  EXPECT_THAT(left_out_of(plan, "use_galore"), HasSubstr("projected"));
  EXPECT_EQ(plan.planned.plan.recompute.kind, plan::RecomputeKind::kNone);
  EXPECT_EQ(plan.planned.job.length, 2048);
  EXPECT_EQ(plan.planned.job.precision, DType::kBf16);
}

TEST(LlamaFactory, AccelerateSharesItsModel) {
  std::string text = kFactory;
  text.erase(text.find("deepspeed:"), text.find("cutoff_len") - text.find("deepspeed:"));
  const launch_scripts::SourceFile launch{
      "fsdp2_config.yaml",
      "distributed_type: FSDP\nmixed_precision: bf16\nnum_machines: 1\n"
      "num_processes: 8\nfsdp_config: {fsdp_version: 2, "
      "fsdp_reshard_after_forward: true, fsdp_offload_params: true}\n"};
  const ImportedPlan plan = started(text, {launch});
  EXPECT_EQ(plan::sharding_letters(plan.planned.plan.sharding), "GGG");
  EXPECT_TRUE(plan.planned.plan.offload.parameters);
}

// The forms of hiyouga/LLaMA-Factory examples/train_lora/qwen3_lora_sft.sh and
// examples/extras/fsdp_qlora/train.sh.
TEST(LlamaFactory, ReadsScriptsThatStartIt) {
  const launch_scripts::SourceFile script{
      "sft.sh",
      "#!/bin/bash\nMODEL_PATH=Qwen/Qwen3-8B\nNPROC_PER_NODE=4 \\\n"
      "llamafactory-cli train --model_name_or_path ${MODEL_PATH} --stage sft "
      "--do_train --lora_rank 16 --cutoff_len 1024 --bf16 "
      "--per_device_train_batch_size 2 --gradient_accumulation_steps 4\n"};
  const ImportedPlan plan = import_plan_files("", {&script, 1}, {.cluster = "dgx-h100"});
  EXPECT_EQ(plan.target, "llama-factory");
  EXPECT_EQ(plan.planned.job.length, 1024);
  EXPECT_EQ(plan.planned.job.sequences, 4 * 2 * 4);
  ASSERT_TRUE(plan.planned.job.model.adapters.has_value());
  EXPECT_EQ(plan.planned.job.model.adapters->rank, 16);
}

TEST(LlamaFactory, ScriptsNameAFileOfSettings) {
  std::string text = kFactory;
  text.erase(text.find("deepspeed:"), text.find("cutoff_len") - text.find("deepspeed:"));
  const std::vector<launch_scripts::SourceFile> files = {
      {"train.sh",
       "accelerate launch --config_file fsdp.yaml src/train.py examples/sft.yaml "
       "per_device_train_batch_size=2\n"},
      {"conf/sft.yaml", text},
      {"fsdp.yaml",
       "distributed_type: FSDP\nmixed_precision: bf16\nnum_machines: 1\nnum_processes: 8\n"
       "fsdp_config: {fsdp_version: 2, fsdp_offload_params: true}\n"}};
  const plan::PlannedJob planned = import_plan_files("", files, {.cluster = "dgx-h100"}).planned;
  EXPECT_EQ(planned.plan.micro_batch, 2);
  EXPECT_EQ(plan::sharding_letters(planned.plan.sharding), "GGG");
  EXPECT_TRUE(planned.plan.offload.parameters);
  EXPECT_THAT([&] { import_plan_files("", {files.data(), 1}, {.cluster = "dgx-h100"}); },
              testing::ThrowsMessage<Error>(HasSubstr(
                  "train.sh:1: the command reads examples/sft.yaml: give this file, too")));
}

TEST(LlamaFactory, WhatTrainsNothingIsRefused) {
  const auto refused_as = [](const std::string& lines) -> std::string {
    try {
      started(std::string("model_name_or_path: Qwen/Qwen3-8B\nstage: sft\n") + lines);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(refused_as("do_predict: true\n"), HasSubstr("has no do_train"));
}

// The form of hiyouga/LLaMA-Factory examples/megatron/qwen3_moe_full.yaml (USE_MCA=1).
constexpr const char* kFactoryOnMegatron = R"(model_name_or_path: Qwen/Qwen3-30B-A3B-Instruct-2507
stage: sft
do_train: true
finetuning_type: full
cutoff_len: 4096
per_device_train_batch_size: 1
gradient_accumulation_steps: 8
bf16: true
tensor_model_parallel_size: 2
sequence_parallel: true
pipeline_model_parallel_size: 2
virtual_pipeline_model_parallel_size: 2
expert_model_parallel_size: 2
recompute_granularity: selective
recompute_modules: core_attn,moe_act
moe_grouped_gemm: true
moe_token_dispatcher_type: alltoall
use_distributed_optimizer: true
overlap_grad_reduce: true
)";

TEST(LlamaFactory, ReadsItsTrainerOnMegatron) {
  const ImportedPlan plan = started(kFactoryOnMegatron);
  const auto& [job, layout] = plan.planned;
  EXPECT_EQ(job.framework.name, "megatron-core");
  EXPECT_EQ(layout.parallel,
            (plan::ParallelismDegrees{
                .tensor = 2, .pipeline = 2, .expert = 2, .expert_tensor = 1, .data = 2}));
  EXPECT_EQ(layout.schedule.chunks, 2);
  EXPECT_THAT(plan.report.read, testing::Contains(testing::AllOf(
                                    testing::Field(&ImportedSetting::name, "model_name_or_path"),
                                    testing::Field(&ImportedSetting::field, "job.model"))));
  EXPECT_EQ(job.sequences, 2 * 8);
  EXPECT_EQ(job.length, 4096);
  EXPECT_EQ(job.precision, DType::kBf16);
  EXPECT_EQ(plan::sharding_letters(layout.sharding), "NNG");
  EXPECT_EQ(left_out_of(started(with(kFactoryOnMegatron, "variable_seq_lengths: true\n")),
                        "variable_seq_lengths"),
            "that sequences are of different lengths");
  std::string adapted = kFactoryOnMegatron;
  adapted.replace(adapted.find("finetuning_type: full"), 21, "finetuning_type: lora");
  EXPECT_THAT(left_out_of(started(adapted), "finetuning_type"), HasSubstr("adapters"));
  EXPECT_THAT(refused(with(kFactoryOnMegatron, "context_parallel_size: x\n")),
              HasSubstr("context_parallel_size: must be an integer"));
}

TEST(LlamaFactory, ProductsInFp8StandAboveDeepSpeed) {
  const plan::PlannedJob planned =
      started(std::string(kFactory) + "fp8: true\n", {kStageThree}).planned;
  EXPECT_EQ(planned.job.precision, DType::kFp8);
  EXPECT_EQ(planned.plan.accumulate, DType::kBf16);
}

TEST(Axolotl, ExpertsShareTheirStatesAmongTheRanksThatShareTheRest) {
  const std::string text =
      "base_model: Qwen/Qwen3-30B-A3B\nmicro_batch_size: 1\nexpert_parallel_size: 2\n"
      "fsdp_config: {reshard_after_forward: true}\n";
  const plan::Plan plan = started(text + "dp_shard_size: 4\n").planned.plan;
  EXPECT_EQ(plan.sharding.group, 4);
  EXPECT_EQ(plan.sharding.expert_group, 4);
  EXPECT_EQ(plan.parallel.expert, 2);
  EXPECT_THAT(refused(text + "dp_shard_size: 2\n"), HasSubstr("must be the 8 ranks"));
}

/// Reads a text or refuses it as input; any other error fails the test.
void read_or_refuse(std::string_view target, const std::string& text) {
  UserFacts given;
  given.cluster = "dgx-h100";
  const launch_scripts::SourceFile files[] = {{"train.yaml", text}, kStageThree};
  try {
    import_plan_files(target, files, given);
  } catch (const Error& error) {
    EXPECT_NE(error.kind(), ErrorKind::kRuntime) << error.what();
    EXPECT_THAT(error.what(), testing::Not(HasSubstr("\x1b")));
  }
}

TEST(HubPrograms, DamagedFilesAreReadOrRefused) {
  static constexpr std::string_view kHostile[] = {
      "\x1b[31m", ": [", "{{{{", "- -", "&a *a", "!!python/object:os.system", "auto", "-1"};
  for (const std::string_view target : {"axolotl", "llama-factory", "ms-swift", "hf"}) {
    const std::string text = target == "axolotl" ? kAxolotl : kFactory;
    for (std::size_t at = 0; at < text.size(); at += 5) {
      read_or_refuse(target, text.substr(0, at));
      std::string changed = text;
      changed.insert(at, kHostile[at / 5 % std::size(kHostile)]);
      read_or_refuse(target, changed);
    }
  }
}

ImportedPlan named_program(const std::string& command) {
  const launch_scripts::SourceFile script{"run.sh",
                                          "torchrun --nproc_per_node 8 " + command + "\n"};
  return import_plan_files("", {&script, 1}, {.cluster = "dgx-h100"});
}

constexpr const char* kTrained =
    " --model_name_or_path meta-llama/Meta-Llama-3-8B --per_device_train_batch_size 1"
    " --output_dir out --max_seq_length 2048 --bf16 true";

TEST(NamedPrograms, OfOpenInstructSayHowLongAPackIs) {
  const ImportedPlan imported = started(
      "#!/bin/bash\naccelerate launch --num_processes 8 open_instruct/grpo_fast.py "
      "--model_name_or_path Qwen/Qwen3-8B --per_device_train_batch_size 1 "
      "--gradient_accumulation_steps 4 --pack_length 4096 --bf16\n");
  EXPECT_EQ(imported.planned.job.length, 4096);
  EXPECT_EQ(imported.planned.job.sequences, 32);
}

// allenai/open-instruct open_instruct/grpo_fast.py.
TEST(NamedPrograms, OnLearnersTrainOnTheAnswersOfAStep) {
  const std::string text =
      "#!/bin/bash\n#SBATCH --nodes=3\n#SBATCH --gpus-per-node=8\nsrun -N1 bash -c \"python "
      "open_instruct/grpo_fast.py --model_name_or_path Qwen/Qwen3-8B --pack_length 4096 "
      "--per_device_train_batch_size 1 --num_unique_prompts_rollout 64 "
      "--num_samples_per_prompt_rollout 8 --num_mini_batches 2 --deepspeed_stage 3 --beta 0.0 "
      "--num_learners_per_node LEARNERS\"\n";
  const auto with = [&](const char* learners) {
    std::string said = text;
    said.replace(said.find("LEARNERS"), 8, learners);
    return started(said).planned;
  };
  const auto& [job, plan] = with("8 8");
  EXPECT_EQ(job.cluster.devices(), 16);
  EXPECT_EQ(job.sequences, 64 * 8 / 2);
  EXPECT_EQ(job.precision, DType::kBf16);
  EXPECT_EQ(plan::sharding_letters(plan.sharding), "GGG");
  EXPECT_EQ(plan.recompute.kind, plan::RecomputeKind::kFull);
  EXPECT_EQ(job.method.kind, plan::TrainingMethodKind::kGrpo);
  EXPECT_EQ(job.method.updates, 2);
  EXPECT_THAT([&] { with("eight"); },
              testing::ThrowsMessage<Error>(HasSubstr("must be integers from 1")));
}

TEST(NamedPrograms, WithGenerationsOfAPromptLearnByGrpo) {
  const ImportedPlan plan =
      named_program(std::string("train.py --num_generations 4 --beta 0.1") + kTrained);
  EXPECT_EQ(plan.planned.job.method.kind, plan::TrainingMethodKind::kGrpo);
  EXPECT_EQ(plan.planned.job.method.reference.place, plan::SecondModelPlace::kSame);
}

TEST(NamedPrograms, BehindNoPythonAreNamedInTheRefusal) {
  const std::string text =
      "#!/bin/bash\naccelerate launch --config_file fsdp.yaml --no_python train sft --config "
      "a.yaml\n";
  EXPECT_THAT([&] { started(text); },
              testing::ThrowsMessage<Error>(HasSubstr("starts train in train.yaml:2")));
}

// A program called by LoRA whose arguments have a rank and no switch, as public copies of
// finetune_lora.py.
TEST(NamedPrograms, WithLoraInTheirNameTrainAdapters) {
  const ImportedPlan plan = named_program(std::string("finetune_lora.py --lora_r 8") + kTrained);
  ASSERT_TRUE(plan.planned.job.model.adapters.has_value());
  EXPECT_EQ(plan.planned.job.model.adapters->rank, 8);
  EXPECT_EQ(plan.planned.job.model.adapters->base, DType::kBf16);
  const ImportedPlan narrow = named_program(std::string("run_fsdp_QLoRA.py --lora_r 8") + kTrained);
  ASSERT_TRUE(narrow.planned.job.model.adapters.has_value());
  EXPECT_EQ(narrow.planned.job.model.adapters->base, DType::kNf4);
}

TEST(NamedPrograms, WithLoraInTheirNameAskWhereNoArgumentHasAdapters) {
  EXPECT_THAT([] { named_program(std::string("scripts/run_fsdp_qlora.py") + kTrained); },
              testing::ThrowsMessage<Error>(HasSubstr(
                  "run.sh:1: run_fsdp_qlora: the program's name says LoRA, and no argument speaks "
                  "of adapters: say them with --set use_qlora=true --set lora_r=16, or --set "
                  "use_lora=false where it trains all weights")));
  const ImportedPlan all =
      named_program(std::string("run_fsdp_qlora.py --use_lora false") + kTrained);
  EXPECT_FALSE(all.planned.job.model.adapters.has_value());
}

}  // namespace
}  // namespace stepwright::framework_files
