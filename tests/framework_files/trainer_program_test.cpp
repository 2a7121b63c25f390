#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/error.h"
#include "stepwright/framework_files/launch_file.h"

namespace stepwright::framework_files {
namespace {

using testing::HasSubstr;

// A program as TRL's pages have it: huggingface/trl docs/source/sft_trainer.md, PEFT.
constexpr const char* kAdaptedProgram = R"(from trl import SFTConfig, SFTTrainer
from peft import LoraConfig
import torch
from transformers import AutoModelForCausalLM, BitsAndBytesConfig

narrow = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_compute_dtype=torch.bfloat16)
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-14B", quantization_config=narrow,
                                             attn_implementation="flash_attention_2")
args = SFTConfig(output_dir="out", per_device_train_batch_size=4, max_length=4096,
                 gradient_accumulation_steps=8, gradient_checkpointing=False)
trainer = SFTTrainer(model=model, args=args, peft_config=LoraConfig(r=32, target_modules="all-linear"))
trainer.train()
)";

// Arguments in a function, over a parser of options, with the batch divided by the ranks.
constexpr const char* kParsedProgram = R"(import argparse, os
from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments

def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", type=str, default="meta-llama/Llama-2-13b-hf")
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--rate", type=float, required=True)
    parser.add_argument("--recompute", action="store_true")
    return parser.parse_args()

def main():
    args = parse()
    tokenizer = AutoTokenizer.from_pretrained(args.model)
    model = AutoModelForCausalLM.from_pretrained(args.model)
    encode = lambda rows: tokenizer(rows["text"], truncation=True, max_length=2048)
    world = int(os.environ.get("WORLD_SIZE", 1))
    told = TrainingArguments("out", per_device_train_batch_size=args.batch_size,
                             gradient_accumulation_steps=128 // (world * args.batch_size),
                             learning_rate=args.rate, bf16=True, fsdp="full_shard auto_wrap",
                             gradient_checkpointing=args.recompute)
    Trainer(model=model, args=told).train()

if __name__ == "__main__":
    main()
)";

constexpr const char* kUnslothProgram =
    R"(from unsloth import FastLanguageModel, is_bfloat16_supported
from transformers import TrainingArguments
from trl import SFTTrainer
length = 2048
model, tokenizer = FastLanguageModel.from_pretrained(model_name = "unsloth/Meta-Llama-3.1-8B",
    max_seq_length = length, dtype = None, load_in_4bit = True)
model = FastLanguageModel.get_peft_model(model, r = 8, use_gradient_checkpointing = "unsloth")
trainer = SFTTrainer(model = model, max_seq_length = length, args = TrainingArguments(
    per_device_train_batch_size = 2, gradient_accumulation_steps = 4,
    fp16 = not is_bfloat16_supported(), bf16 = is_bfloat16_supported(), optim = "adamw_8bit",
    output_dir = "out"))
)";

ImportedPlan program_with(const std::vector<launch_scripts::SourceFile>& files,
                          const std::string& cluster, std::vector<std::string> settings = {}) {
  UserFacts given;
  given.cluster = cluster;
  given.settings = std::move(settings);
  return import_plan_files("", files, given);
}

ImportedPlan program_of(const std::string& text, const std::string& cluster = "dgx-a100-80g",
                        std::vector<std::string> settings = {}) {
  return program_with({{"train.py", text}}, cluster, std::move(settings));
}

std::string refusal_of_program(const std::string& text) {
  try {
    program_of(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    return error.what();
  }
  ADD_FAILURE() << "is read";
  return "";
}

std::string with_words(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::uint32_t line_of_setting(const ImportedPlan& plan, std::string_view name) {
  const auto found = std::ranges::find(plan.report.read, name, &ImportedSetting::name);
  return found == plan.report.read.end() ? 0 : found->line;
}

TEST(TrainerProgram, ReadsAdaptersOfTrl) {
  const ImportedPlan plan = program_of(kAdaptedProgram);
  const plan::Job& job = plan.planned.job;
  EXPECT_EQ(job.model_name, "qwen2.5-14b");
  EXPECT_EQ(job.framework.variant, "trl");
  EXPECT_EQ(job.sequences, 4 * 8 * 8);
  EXPECT_EQ(job.length, 4096);
  EXPECT_EQ(job.precision, DType::kBf16);  // TRL's default.
  EXPECT_EQ(job.kernels.attention, cluster::AttentionKernel::kFlash2);
  EXPECT_EQ(plan.planned.plan.recompute.kind, plan::RecomputeKind::kNone);
  ASSERT_TRUE(job.model.adapters.has_value());
  EXPECT_EQ(job.model.adapters->rank, 32);
  EXPECT_EQ(job.model.adapters->alpha, 8);  // peft's default.
  EXPECT_EQ(line_of_setting(plan, "per_device_train_batch_size"), 9U);
  EXPECT_EQ(line_of_setting(plan, "lora_r"), 11U);
}

// Without autocast, a model computes in the type in which it was loaded.
TEST(TrainerProgram, ComputesInTheTypeOfItsWeights) {
  const std::string pure =
      with_words(kAdaptedProgram, "gradient_checkpointing=False", "bf16=False");
  const ImportedPlan half = program_of(with_words(pure, "from_pretrained(",
                                                  "from_pretrained(torch_dtype=torch.float16, "
                                                  "pretrained_model_name_or_path="));
  EXPECT_EQ(half.planned.job.precision, DType::kFp16);
  EXPECT_THAT(refusal_of_program(pure), HasSubstr("adapters.base"));
}

TEST(TrainerProgram, FollowsOptionsAndTheNumberOfRanks) {
  const ImportedPlan plan = program_of(kParsedProgram, "{profile: dgx-a100-80g, nodes: 2}");
  EXPECT_EQ(plan.planned.plan.micro_batch, 4);
  EXPECT_EQ(plan.planned.job.sequences, 128);
  EXPECT_EQ(plan.planned.job.length, 2048);
  EXPECT_EQ(plan.planned.job.framework.variant, "transformers");
  EXPECT_EQ(plan.planned.plan.recompute.kind, plan::RecomputeKind::kNone);

  const ImportedPlan set =
      program_of(kParsedProgram, "dgx-a100-80g", {"batch_size=2", "recompute=true"});
  EXPECT_EQ(set.planned.plan.micro_batch, 2);
  EXPECT_EQ(set.planned.job.sequences, 128);
  EXPECT_EQ(set.planned.plan.recompute.kind, plan::RecomputeKind::kFull);
}

TEST(TrainerProgram, TakesTheCommandOfAScript) {
  const std::string script =
      "#!/bin/bash\nexport WANDB_MODE=offline\n"
      "torchrun --nnodes 2 --nproc_per_node 8 src/train.py --model Qwen/Qwen2.5-7B "
      "--batch-size=2 --recompute --rate 1e-5\n";
  const ImportedPlan plan = program_with({{"run.sh", script}, {"train.py", kParsedProgram}},
                                         "{profile: dgx-a100-80g, nodes: 2}");
  EXPECT_EQ(plan.planned.job.model_name, "qwen2.5-7b");
  EXPECT_EQ(plan.planned.plan.micro_batch, 2);
  EXPECT_EQ(plan.planned.job.sequences, 128);
  EXPECT_EQ(plan.planned.job.cluster.devices(), 16);
  EXPECT_EQ(plan.planned.plan.recompute.kind, plan::RecomputeKind::kFull);
}

// Fine-tuning programs after Alpaca's define a class of arguments of that very name, which the
// command line fills.
TEST(TrainerProgram, AClassOfArgumentsIsNoCall) {
  constexpr const char* kProgram = R"(import transformers
from dataclasses import dataclass, field

@dataclass
class TrainingArguments(transformers.TrainingArguments):
    model_max_length: int = field(default=8192)

def train():
    parser = transformers.HfArgumentParser((TrainingArguments,))
    (training_args,) = parser.parse_args_into_dataclasses()

if __name__ == "__main__":
    train()
)";
  const std::string script =
      "torchrun --nproc_per_node 8 finetune.py --model_name_or_path Qwen/Qwen2.5-7B --bf16 True "
      "--per_device_train_batch_size 2 --gradient_accumulation_steps 4 --model_max_length 1024 "
      "--gradient_checkpointing True\n";
  const ImportedPlan plan = program_with({{"run.sh", script}, {"finetune.py", kProgram}},
                                         "{profile: dgx-a100-80g, nodes: 1}");
  EXPECT_EQ(plan.planned.job.precision, DType::kBf16);
  EXPECT_EQ(plan.planned.job.length, 1024);
  EXPECT_EQ(plan.planned.plan.micro_batch, 2);
  EXPECT_EQ(plan.planned.plan.recompute.kind, plan::RecomputeKind::kFull);
}

constexpr const char* kDataclassProgram = R"(import torch, transformers
from dataclasses import dataclass, field
from peft import LoraConfig, get_peft_model

@dataclass
class Sizes:
    max_seq_len: int = field(default=4096, metadata={"help": "tokens"})

@dataclass
class Own(transformers.TrainingArguments):
    per_device_train_batch_size: int = field(default=6)
    gradient_accumulation_steps: int = 4
    bf16: bool = field(default=True)
    adapted: bool = False

@dataclass
class Adapters:
    lora_r: int = 24
    lora_target_modules: list = field(default_factory=lambda: ["q_proj", "v_proj"])

def main():
    parser = transformers.HfArgumentParser((Sizes, Own, Adapters))
    sizes, args, adapters = parser.parse_args_into_dataclasses()
    model = transformers.AutoModelForCausalLM.from_pretrained(args.base, torch_dtype=torch.bfloat16)
    model.gradient_checkpointing_enable()
    if args.adapted:
        model = get_peft_model(model, LoraConfig(r=adapters.lora_r, lora_alpha=12,
                                                 target_modules=adapters.lora_target_modules))
    args.max_seq_length = 100000

main()
)";

constexpr const char* kDataclassCommand =
    "accelerate launch --num_processes 4 tune.py --model_path Qwen/Qwen2.5-7B ";

TEST(TrainerProgram, FillsClassesOfArguments) {
  const ImportedPlan plan =
      program_with({{"run.sh", std::string(kDataclassCommand) + "--gradient_accumulation_steps 2"},
                    {"tune.py", kDataclassProgram}},
                   "dgx-a100-80g");
  EXPECT_EQ(plan.planned.plan.micro_batch, 6);
  EXPECT_EQ(plan.planned.job.sequences, 6 * 2 * 4);
  EXPECT_EQ(plan.planned.job.length, 4096);
  EXPECT_EQ(plan.planned.job.precision, DType::kBf16);
  EXPECT_EQ(plan.planned.plan.recompute.kind, plan::RecomputeKind::kFull);
  EXPECT_FALSE(plan.planned.job.model.adapters.has_value());
  const auto batch =
      std::ranges::find(plan.report.read, "per_device_train_batch_size", &ImportedSetting::name);
  ASSERT_NE(batch, plan.report.read.end());
  EXPECT_EQ(batch->file, "tune.py");
  EXPECT_EQ(batch->line, 11U);
}

TEST(TrainerProgram, FollowsASwitchOfItsOwnToAdapters) {
  const ImportedPlan plan =
      program_with({{"run.sh", std::string(kDataclassCommand) + "--adapted True --lora_r 16"},
                    {"tune.py", kDataclassProgram}},
                   "dgx-a100-80g");
  ASSERT_TRUE(plan.planned.job.model.adapters.has_value());
  EXPECT_EQ(plan.planned.job.model.adapters->rank, 16);
  EXPECT_EQ(plan.planned.job.model.adapters->alpha, 12);
  EXPECT_FALSE(
      plan.planned.job.model.adapters->targets[model::place_of(model::LoraTargetProduct::kUp)]);
}

TEST(TrainerProgram, FillsClassesWithoutACommand) {
  const ImportedPlan plan = program_with({{"tune.py", kDataclassProgram}}, "dgx-a100-80g",
                                         {"model_name_or_path=Qwen/Qwen2.5-7B"});
  EXPECT_EQ(plan.planned.job.sequences, 6 * 4 * 8);
  EXPECT_EQ(plan.planned.job.length, 4096);
}

TEST(TrainerProgram, TakesParametersOfFire) {
  constexpr const char* kProgram = R"(import fire
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
def train(base: str = "meta-llama/Llama-2-7b-hf", batch: int = 4, cutoff_len: int = 256):
    model = AutoModelForCausalLM.from_pretrained(base)
    def encode(text):
        return tokenizer(text, truncation=True, max_length=cutoff_len)
    Trainer(model=model, args=TrainingArguments("out", per_device_train_batch_size=batch))
if __name__ == "__main__":
    fire.Fire(train)
)";
  const std::string script =
      "torchrun --nproc_per_node 8 train.py --base Qwen/Qwen2.5-7B --cutoff_len 1024\n";
  const ImportedPlan plan =
      program_with({{"run.sh", script}, {"train.py", kProgram}}, "dgx-a100-80g");
  EXPECT_EQ(plan.planned.job.model_name, "qwen2.5-7b");
  EXPECT_EQ(plan.planned.plan.micro_batch, 4);
  EXPECT_EQ(plan.planned.job.length, 1024);
}

TEST(TrainerProgram, TakesTheLengthFromAnOptionOfItsOwn) {
  std::string program = with_words(
      kParsedProgram, R"(tokenizer(rows["text"], truncation=True, max_length=2048))", "rows");
  program = with_words(program, R"(    parser.add_argument("--recompute")",
                       R"(    parser.add_argument("--block_size", type=int, default=512)
    parser.add_argument("--recompute")");
  EXPECT_EQ(program_of(program).planned.job.length, 512);
  EXPECT_EQ(program_of(program, "dgx-a100-80g", {"block_size=8192"}).planned.job.length, 8192);
}

TEST(TrainerProgram, LearnsFromPairsWithoutAReference) {
  const ImportedPlan plan = program_of(R"(from trl import CPOConfig, CPOTrainer
args = CPOConfig(output_dir="out", per_device_train_batch_size=2, loss_type="simpo", max_length=2048)
CPOTrainer(model="Qwen/Qwen2.5-7B", args=args)
)");
  EXPECT_EQ(plan.planned.job.method.kind, plan::TrainingMethodKind::kDpo);
  EXPECT_EQ(plan.planned.job.method.reference.place, plan::SecondModelPlace::kNone);
  EXPECT_EQ(plan.planned.plan.micro_batch, 4);
}

TEST(TrainerProgram, ReadsUnsloth) {
  const ImportedPlan plan =
      program_of(kUnslothProgram, "{profile: dgx-a100-80g, nodes: 1, devices_per_node: 1}");
  const plan::Job& job = plan.planned.job;
  EXPECT_EQ(job.model_name, "llama-3.1-8b");
  EXPECT_EQ(job.sequences, 8);
  EXPECT_EQ(job.length, 2048);
  EXPECT_EQ(job.precision, DType::kBf16);
  EXPECT_EQ(job.optimizer, plan::Optimizer::kAdam8bit);
  ASSERT_TRUE(job.model.adapters.has_value());
  EXPECT_EQ(job.model.adapters->rank, 8);
  EXPECT_EQ(plan.planned.plan.recompute.kind, plan::RecomputeKind::kFull);
  EXPECT_FALSE(plan.planned.plan.offload.activations.empty());
}

TEST(TrainerProgram, RestrictsItselfToDevices) {
  const auto devices = [](const std::string& line) {
    const ImportedPlan plan = program_of("import os\n" + line + "\n" + kUnslothProgram);
    return plan.planned.job.cluster.devices();
  };
  EXPECT_EQ(devices(""), 8);
  EXPECT_EQ(devices("os.environ['CUDA_VISIBLE_DEVICES'] = '0'"), 1);
  EXPECT_EQ(devices("os.environ[\"CUDA_VISIBLE_DEVICES\"] = \"2,3\""), 2);
  EXPECT_EQ(devices("os.environ['CUDA_VISIBLE_DEVICES'] = chosen()"), 8);
}

// A V100 has no products in bf16: the program takes fp16 there.
TEST(TrainerProgram, AsksTheDeviceForItsTypes) {
  const ImportedPlan plan =
      program_of(kUnslothProgram, "{profile: v100-dgx1, nodes: 1, devices_per_node: 1}");
  EXPECT_EQ(plan.planned.job.precision, DType::kFp16);
}

TEST(TrainerProgram, RefusesABatchThatNothingSays) {
  const std::string error = refusal_of_program(with_words(
      kAdaptedProgram, "per_device_train_batch_size=4", "per_device_train_batch_size=chosen()"));
  EXPECT_THAT(error, HasSubstr("train.py:9: per_device_train_batch_size"));
  EXPECT_THAT(error, HasSubstr("--set per_device_train_batch_size=VALUE"));
}

TEST(TrainerProgram, ListsWhatIsNoLiteral) {
  const ImportedPlan plan = program_of(with_words(kAdaptedProgram, "gradient_checkpointing=False",
                                                  "gradient_checkpointing=wanted()"));
  const auto found =
      std::ranges::find(plan.report.not_read, "gradient_checkpointing", &SettingNotInPlan::name);
  ASSERT_NE(found, plan.report.not_read.end());
  EXPECT_EQ(found->matters, SettingImpact::kYes);
  EXPECT_EQ(found->value, "wanted()");
  const std::string open =
      with_words(with_words(kAdaptedProgram, ", quantization_config=narrow", ""),
                 "LoraConfig(r=32, target_modules=\"all-linear\")", "config.ADAPTERS");
  // No call of the program reaches the function.
  const std::string inside = with_words(open, "trainer = SFTTrainer", "def f():\n  SFTTrainer");
  for (const std::string& text : {open, inside}) {
    const std::vector<SettingNotInPlan> unread = program_of(text).report.not_read;
    const auto adapters = std::ranges::find(unread, "peft_config", &SettingNotInPlan::name);
    ASSERT_NE(adapters, unread.end());
    EXPECT_EQ(adapters->matters, SettingImpact::kYes);
  }
}

TEST(TrainerProgram, ClassesOfOtherTensorLibrariesAreRefused) {
  EXPECT_THAT(
      [] {
        program_of(
            "from mlx_lm import load\nfrom mlx_grpo import GRPOConfig\n"
            "args = GRPOConfig(per_device_train_batch_size=1)\n");
      },
      testing::ThrowsMessage<Error>(HasSubstr("a program of MLX")));
}

TEST(TrainerProgram, RefusesWhatIsCutOff) {
  const std::string text = kAdaptedProgram;
  EXPECT_THAT(refusal_of_program(text.substr(0, text.find("gradient_accumulation"))),
              HasSubstr("train.py"));
}

}  // namespace
}  // namespace stepwright::framework_files
