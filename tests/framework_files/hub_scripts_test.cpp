#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "imported.h"
#include "stepwright/core/error.h"
#include "stepwright/framework_files/launch_file.h"

namespace stepwright::framework_files {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;

using ScriptFiles = std::vector<launch_scripts::SourceFile>;

ImportedPlan read_with(const ScriptFiles& files, UserFacts given = {}) {
  if (given.cluster.empty()) given.cluster = "dgx-h100";
  return import_plan_files("", files, given);
}

std::string refusal_with(const ScriptFiles& files, UserFacts given = {}) {
  try {
    read_with(files, std::move(given));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

const launch_scripts::SourceFile kSftSettings{
    "conf/sft.yaml",
    "model_name_or_path: Qwen/Qwen3-8B\nmax_length: 4096\nbf16: true\n"
    "per_device_train_batch_size: 2\ngradient_accumulation_steps: 8\n"
    "gradient_checkpointing: true\noutput_dir: out\n"};
const launch_scripts::SourceFile kSftStages{
    "stages.yaml",
    "distributed_type: DEEPSPEED\nmixed_precision: bf16\nnum_machines: 1\n"
    "num_processes: 8\ndeepspeed_config: {zero_stage: 3}\n"};

TEST(TrainerScript, LearnsFromPairsWithoutAReference) {
  const ImportedPlan plan = read_with(
      {{"run.sh",
        "accelerate launch --config_file stages.yaml run_simpo.py conf/sft.yaml --beta=2.5 "
        "--per_device_train_batch_size=1 --use_flash_attn True\n"},
       kSftSettings,
       kSftStages});
  EXPECT_EQ(plan.planned.job.method.kind, plan::TrainingMethodKind::kDpo);
  EXPECT_EQ(plan.planned.job.method.reference.place, plan::SecondModelPlace::kNone);
  EXPECT_EQ(plan.planned.job.sequences, 2 * 8 * 8);
  EXPECT_EQ(plan.planned.job.kernels.attention, cluster::AttentionKernel::kFlash2);
  // The command's arguments stand in the script, not in the settings that they override.
  EXPECT_THAT(plan.report.read, Contains(AllOf(Field(&ImportedSetting::name, "beta"),
                                               Field(&ImportedSetting::file, "run.sh"),
                                               Field(&ImportedSetting::line, 1U))));
}

TEST(TrainerScript, SaysWhatAScriptsArgumentsLeaveOpen) {
  EXPECT_THAT(refusal_with({{"run.sh", "torchrun --nproc_per_node 8 main.py --deepspeed=$1\n"}}),
              HasSubstr("--set 1=VALUE is the first"));
}

TEST(TrainerScript, SaysWhoseDefaultsAdaptersHave) {
  const ImportedPlan plan = read_with(
      {{"run.sh",
        "torchrun --nproc_per_node 8 tune.py --model_name_or_path Qwen/Qwen2.5-7B "
        "--per_device_train_batch_size 1 --model_max_length 512 --bf16 True --use_lora\n"}});
  EXPECT_THAT(plan.report.assumed,
              Contains(AllOf(Field(&AssumedPlanField::field, "job.adapters.rank"),
                             Field(&AssumedPlanField::why, HasSubstr("Qwen finetune.py")))));
}

// CPython Lib/argparse.py: allow_abbrev, which transformers' HfArgumentParser leaves on.
TEST(TrainerScript, TakesAnArgumentByTheBeginningOfItsName) {
  const auto plan = [](const std::string& words) {
    return read_with({{"run.sh",
                       "torchrun --nproc_per_node 8 -m trl.scripts.sft --model_name_or_path "
                       "Qwen/Qwen3-8B --per_device_train_batch_size 1 --output_dir out " +
                           words + "\n"}});
  };
  EXPECT_EQ(plan("--max_len 4096").planned.job.length, 4096);
  EXPECT_EQ(plan("--max_seq_len 4096").planned.job.length, 4096);
  EXPECT_EQ(plan("--gradient_acc 4").planned.job.sequences, 8 * 4);
  // Of two that begin so neither is meant.
  EXPECT_THAT(plan("--max_ 4").report.not_read, lists("max_", SettingImpact::kMaybe));
}

// The form of huggingface/alignment-handbook scripts/README.md and huggingface/open-r1 README.md.
TEST(TrainerScript, TakesTheFileOfSettingsThatItNames) {
  const launch_scripts::SourceFile script{
      "run.sh",
      "#!/bin/bash\nsource ~/.bashrc\nsource venv/bin/activate\n"
      "accelerate launch --config_file stages.yaml scripts/sft.py "
      "--config recipes/sft.yaml --gradient_accumulation_steps 4\n"};
  const ImportedPlan plan = read_with({script, kSftStages, kSftSettings});
  EXPECT_EQ(plan.target, "hf");
  EXPECT_EQ(plan.planned.job.model_name, "qwen3-8b");
  EXPECT_EQ(plan.planned.job.length, 4096);
  EXPECT_EQ(plan.planned.job.sequences, 2 * 8 * 4);
  EXPECT_EQ(plan::sharding_letters(plan.planned.plan.sharding), "GGG");
  EXPECT_EQ(plan.planned.plan.recompute.kind, plan::RecomputeKind::kFull);
  EXPECT_THAT(plan.report.not_read, lists("max_length", SettingImpact::kYes));
  for (const SettingNotInPlan& one : plan.report.not_read) {
    EXPECT_THAT(one.name, testing::Not(HasSubstr("activate")));
  }
  EXPECT_THAT(refusal_with({script, kSftStages}),
              HasSubstr("run.sh:4: the command reads recipes/sft.yaml: give this file, too"));
  EXPECT_THAT(refusal_with({script, kSftSettings}),
              HasSubstr("names a configuration of Accelerate: give its file, too"));
}

TEST(TrainerScript, TakesTheFileBehindItsProgram) {
  const launch_scripts::SourceFile script{"run.sh",
                                          "#!/bin/bash\ntorchrun --nproc_per_node 4 --nnodes 1 "
                                          "run_sft.py conf/sft.yaml\n"};
  const ImportedPlan plan = read_with({script, kSftSettings});
  EXPECT_EQ(plan.planned.job.sequences, 4 * 2 * 8);
  // Nor are these NeMo-RL's and nanotron's programs, which have the same names.
  for (const char* program : {"scripts/run_dpo.py --config", "src/run_train.py --config"}) {
    const launch_scripts::SourceFile other{
        "run.sh",
        std::string("accelerate launch --num_processes 8 ") + program + " conf/sft.yaml\n"};
    EXPECT_EQ(read_with({other, kSftSettings}).target, "hf");
  }
}

// huggingface/trl trl/cli, trl/accelerate_configs.
TEST(TrainerScript, TrlBringsConfigurationsAndDefaults) {
  const launch_scripts::SourceFile settings{
      "sft.yaml", "model_name_or_path: Qwen/Qwen3-8B\nper_device_train_batch_size: 1\n"};
  const auto with = [&](const std::string& word) -> ScriptFiles {
    return {{"run.sh", "#!/bin/bash\ntrl sft --config sft.yaml --accelerate_config " + word},
            settings};
  };
  const ImportedPlan plan = read_with(with("zero2"));
  EXPECT_EQ(plan::sharding_letters(plan.planned.plan.sharding), "NGG");
  EXPECT_EQ(plan.planned.job.length, 1024);
  EXPECT_EQ(plan.planned.job.precision, DType::kBf16);
  EXPECT_EQ(plan.planned.plan.recompute.kind, plan::RecomputeKind::kFull);
  EXPECT_EQ(plan::sharding_letters(read_with(with("fsdp2")).planned.plan.sharding), "GGG");
  EXPECT_THAT(refusal_with(with("zero4")),
              HasSubstr("accelerate_config: names a configuration of Accelerate"));
}

TEST(TrainerScript, OtherLossesAreLeftOut) {
  const launch_scripts::SourceFile script{"run.sh", "#!/bin/bash\ntrl kto --config sft.yaml\n"};
  EXPECT_THAT(read_with({script, kSftSettings}).report.not_read, lists("kto", SettingImpact::kYes));
}

TEST(TrainerScript, ContradictionsWithTheLauncherAreNamed) {
  const launch_scripts::SourceFile script{
      "run.sh",
      "#!/bin/bash\naccelerate launch --config_file stages.yaml "
      "--gradient_accumulation_steps 2 sft.py --config conf/sft.yaml\n"};
  EXPECT_THAT(refusal_with({script, kSftStages, kSftSettings}),
              HasSubstr("gradient_accumulation_steps is 2, but the trainer's "
                        "gradient_accumulation_steps is 8"));
}

TEST(TrainerScript, ValuesThatItLeavesOpenAreListed) {
  const launch_scripts::SourceFile script{
      "run.sh",
      "#!/bin/bash\nSTEPS=$(grep steps conf/sft.yaml)\n"
      "accelerate launch --config_file stages.yaml --gradient_accumulation_steps $STEPS "
      "--num_machines $COUNT sft.py --config conf/sft.yaml\n"};
  const ImportedPlan plan = read_with({script, kSftStages, kSftSettings});
  EXPECT_EQ(plan.planned.job.sequences, 2 * 8 * 8);
  EXPECT_THAT(plan.report.not_read,
              Contains(AllOf(Field(&SettingNotInPlan::name, "--gradient_accumulation_steps"),
                             Field(&SettingNotInPlan::why, HasSubstr("--set STEPS=VALUE")))));
  EXPECT_THAT(plan.report.not_read,
              Contains(AllOf(Field(&SettingNotInPlan::name, "--num_machines"),
                             Field(&SettingNotInPlan::matters, SettingImpact::kYes),
                             Field(&SettingNotInPlan::why, HasSubstr("--set COUNT=VALUE")))));
}

TEST(TrainerScript, AccelerateIsAlsoJson) {
  const launch_scripts::SourceFile script{
      "run.sh",
      "#!/bin/bash\naccelerate launch --config_file stages.json "
      "sft.py --config conf/sft.yaml\n"};
  const launch_scripts::SourceFile json{"stages.json",
                                        R"({"distributed_type": "FSDP", "mixed_precision": "bf16",
    "num_machines": 1, "num_processes": 4,
    "fsdp_config": {"fsdp_version": 2, "fsdp_reshard_after_forward": false}})"};
  const ImportedPlan plan = read_with({script, json, kSftSettings});
  EXPECT_EQ(plan::sharding_letters(plan.planned.plan.sharding), "NGG");
  EXPECT_EQ(plan.planned.plan.parallel.data, 4);
}

constexpr const char* kWritesAxolotl = R"(#!/bin/bash
#SBATCH --nodes=1
OUT=/tmp/out-${SLURM_JOB_ID}
cat > $OUT/config.yaml << EOF
base_model: Qwen/Qwen3-8B
sequence_len: 2048
micro_batch_size: 2
gradient_accumulation_steps: 16
fsdp_version: 2
fsdp_config: {reshard_after_forward: true}
bf16: true
output_dir: $OUT/model
EOF
srun --ntasks=1 singularity exec image.sif bash -c "
  accelerate launch --num_processes 4 --num_machines 1 -m axolotl.cli.train $OUT/config.yaml
"
)";

TEST(AxolotlScript, TakesTheFileThatItWrites) {
  const ImportedPlan plan = read_with({{"job.sh", kWritesAxolotl}});
  EXPECT_EQ(plan.target, "axolotl");
  EXPECT_EQ(plan.planned.plan.parallel.data, 4);
  EXPECT_EQ(plan.planned.job.sequences, 4 * 2 * 16);
  EXPECT_THAT(plan.report.read, Contains(AllOf(Field(&ImportedSetting::name, "micro_batch_size"),
                                               Field(&ImportedSetting::file, "job.sh"),
                                               Field(&ImportedSetting::line, 7U))));
}

TEST(AxolotlScript, OptionsStandOverItsFile) {
  const launch_scripts::SourceFile script{
      "run.sh", "#!/bin/bash\naxolotl train conf/a.yaml --micro-batch-size 4\n"};
  const launch_scripts::SourceFile settings{
      "a.yaml", "base_model: Qwen/Qwen3-8B\nsequence_len: 2048\nmicro_batch_size: 1\n"};
  EXPECT_EQ(read_with({script, settings}).planned.plan.micro_batch, 4);
  EXPECT_THAT(refusal_with({script}),
              HasSubstr("run.sh:2: the command reads conf/a.yaml: give this file, too"));
}

TEST(LlamaFactoryScript, AFileThatItWritesMayTrainNothing) {
  const launch_scripts::SourceFile script{
      "eval.sh",
      "#!/usr/bin/env bash\nCLI=llamafactory-cli\n"
      "read -r MODEL OUT <<EOF\n$(python - \"$1\" <<'PY'\nprint('a: b')\nPY\n)\n"
      "EOF\ncat > out/predict.yaml <<EOF\nmodel_name_or_path: $MODEL\n"
      "stage: sft\ndo_predict: true\ncutoff_len: 1024\noutput_dir: $OUT\nEOF\n"
      "( cd \"$ROOT\" && \"$CLI\" train out/predict.yaml )\n"};
  EXPECT_THAT(refusal_with({script}), HasSubstr("has no do_train: nothing is trained"));
}

TEST(Script, ADeepSpeedFileThatItWritesIsTaken) {
  const launch_scripts::SourceFile script{
      "run.sh",
      "#!/bin/bash\ncat > ds.json <<EOF\n{\"zero_optimization\": {\"stage\": 2}, "
      "\"bf16\": {\"enabled\": \"auto\"}}\nEOF\n"
      "deepspeed --num_gpus 4 train.py --deepspeed ds.json --bf16 True "
      "--model_name_or_path Qwen/Qwen3-8B --model_max_length 2048 "
      "--per_device_train_batch_size 1\n"};
  const ImportedPlan plan = read_with({script});
  EXPECT_EQ(plan::sharding_letters(plan.planned.plan.sharding), "NGG");
  EXPECT_EQ(plan.planned.plan.parallel.data, 4);
}

TEST(Script, ProgramsThatNobodyReadsAreNamed) {
  EXPECT_THAT(refusal_with({{"gpt.sh",
                             "#!/bin/bash\nsrun bash -c \"python3 -u "
                             "/opt/NeMo/examples/nlp/language_modeling/megatron_t5_pretraining.py "
                             "model.global_batch_size=64\"\n"}}),
              AllOf(HasSubstr("gpt.sh: starts /opt/NeMo/examples/nlp/language_modeling/"
                              "megatron_t5_pretraining.py (of NeMo 1"),
                    HasSubstr("in gpt.sh:2, which is of no framework that is read")));
  // Words of a command, what a given program imports, and what a given configuration holds.
  EXPECT_THAT(
      refusal_with({{"run.sh", "composer train/train.py yamls/mpt.yaml max_duration=5ba\n"}}),
      AllOf(HasSubstr("starts train/train.py (of LLM Foundry on Composer)"),
            HasSubstr("describe its job by hand (stepwright init)")));
  const launch_scripts::SourceFile own{"own.sh", "torchrun own.py --config conf.json\n"};
  EXPECT_THAT(refusal_with({{"own.sh", "lightning run model --devices=8 own.py --size 8\n"},
                            {"own.py", "import lightning as L\nfrom lit_gpt.model import GPT\n"}}),
              HasSubstr("starts own.py (of LitGPT)"));
  EXPECT_THAT(refusal_with({own, {"conf.json", "{\"distributed\": {\"pp_engine\": \"1f1b\"}}"}}),
              HasSubstr("starts own.py (of picotron)"));
  EXPECT_THAT(refusal_with({{"conf.yaml", "device_train_microbatch_size: 2\n"}}),
              HasSubstr("conf.yaml: a configuration of LLM Foundry on Composer"));
}

TEST(Script, ScriptsThatAreMissingAreNamedWhereTheModelIs) {
  EXPECT_THAT(
      refusal_with({{"run.sh",
                     "#!/bin/bash\nsource models/sizes.sh\ntorchrun train.py ${SIZES[@]} "
                     "--micro-batch-size 1 --global-batch-size 8 --seq-length 128\n"}}),
      HasSubstr("run.sh:2 runs models/sizes.sh, which is not among the given files: give it, too"));
}

// The form of volcengine/verl examples: a word of Hydra that ends like a program.
TEST(Script, WordsOfHydraAreNoPrograms) {
  const launch_scripts::SourceFile script{
      "grpo.sh",
      "#!/bin/bash\npython3 -m verl.trainer.main_ppo actor_rollout_ref.model.path=Qwen/Qwen3-8B "
      "actor_rollout_ref.actor.ppo_mini_batch_size=64 "
      "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=2 "
      "custom_reward_function.path=rewards/mine.py trainer.n_gpus_per_node=8 trainer.nnodes=1\n"};
  const ImportedPlan plan = read_with({script});
  EXPECT_EQ(plan.planned.job.model_name, "qwen3-8b");
  EXPECT_EQ(plan.planned.job.sequences, 64);
}

TEST(HubScripts, TheirOwnScriptsAreFollowed) {
  const ImportedPlan plan =
      read_with({{"train.sh",
                  "source conf.sh\nNPROC_PER_NODE=4 swift sft --model Qwen/Qwen3-1.7B \\\n"
                  "  --per_device_train_batch_size $MBS --max_length 4096 --deepspeed zero2\n"},
                 {"conf.sh", "MBS=2\n"}});
  EXPECT_EQ(plan.target, "ms-swift");
  EXPECT_EQ(plan.planned.plan.micro_batch, 2);
}

TEST(HubScripts, AValueThatIsLeftOpenIsNamedWithWhatSaysIt) {
  EXPECT_THAT(refusal_with({{"train.sh",
                             "M=$2\ntorchrun --nproc_per_node 8 train.py --model_name_or_path $M "
                             "--per_device_train_batch_size 2 --output_dir o\n"}}),
              HasSubstr("the script does not set it: --set M=VALUE"));
}

TEST(HubScripts, NodesInFrontOfLlamaFactoryCount) {
  const launch_scripts::SourceFile settings{
      "sft.yaml",
      "model_name_or_path: Qwen/Qwen3-8B\nstage: sft\ndo_train: true\n"
      "finetuning_type: full\ncutoff_len: 4096\nbf16: true\n"
      "per_device_train_batch_size: 1\n"};
  EXPECT_EQ(read_with({{"run.sh", "FORCE_TORCHRUN=1 NNODES=2 llamafactory-cli train sft.yaml\n"},
                       settings})
                .planned.job.cluster.devices(),
            16);
  // A task of each node starts the processes of all its devices.
  EXPECT_EQ(read_with({{"run.slurm",
                        "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=1\n"
                        "#SBATCH --gpus-per-node=8\nsrun bash -c 'NNODES=$SLURM_NNODES "
                        "llamafactory-cli train sft.yaml'\n"},
                       settings})
                .planned.job.cluster.devices(),
            16);
}

// hiyouga/LLaMA-Factory src/llamafactory/train/trainer_utils.py: get_ray_trainer.
TEST(HubScripts, WorkersOfRayAreTheDevicesOfLlamaFactory) {
  const launch_scripts::SourceFile settings{
      "sft.yaml",
      "model_name_or_path: Qwen/Qwen3-8B\nstage: sft\ndo_train: true\n"
      "finetuning_type: lora\ncutoff_len: 4096\nbf16: true\n"
      "per_device_train_batch_size: 2\nray_num_workers: 4\n"};
  const ImportedPlan alone = read_with({settings});
  EXPECT_EQ(alone.planned.job.cluster.devices(), 4);
  EXPECT_EQ(alone.planned.job.sequences, 2 * 4);
  EXPECT_THAT(alone.report.read, takes("ray_num_workers", "job.cluster"));
  const auto devices = [&](const std::string& start) {
    return read_with({{"run.sh", start + " llamafactory-cli train sft.yaml\n"}, settings})
        .planned.job.cluster.devices();
  };
  EXPECT_EQ(devices("USE_RAY=1"), 4);
  EXPECT_EQ(devices("USE_RAY=0"), 8);
  EXPECT_EQ(devices("FORCE_TORCHRUN=1 NPROC_PER_NODE=2"), 2);
}

TEST(HubScripts, TrlHasABatchWhereNothingSaysIt) {
  const ImportedPlan plan =
      read_with({{"run.sh", "trl sft --model_name_or_path Qwen/Qwen3-8B --dataset_name imdb\n"}});
  EXPECT_EQ(plan.target, "hf");
  EXPECT_EQ(plan.planned.plan.micro_batch, 8);
}

const launch_scripts::SourceFile kStages2{
    "conf/ds_zero2.json",
    "{\"train_micro_batch_size_per_gpu\": 2, \"gradient_accumulation_steps\": 8,"
    " \"fp16\": {\"enabled\": true}, \"zero_optimization\": {\"stage\": 2}}"};

TEST(DeepspeedScript, AProgramOfItsOwnIsReadByTheConfigurationThatItNames) {
  for (const char* option : {"--deepspeed_config", "--ds_config", "--deepspeed"}) {
    const std::string text =
        std::string(
            "#!/bin/bash\ndeepspeed --num_gpus=4 train_mine.py --model_name "
            "Qwen/Qwen2.5-0.5B-Instruct --max_seq_length 512 --gradient_checkpointing "
            "--own_switch 3 ") +
        option + " conf/ds_zero2.json\n";
    const ImportedPlan read = read_with({{"run.sh", text}, kStages2});
    EXPECT_EQ(read.target, "deepspeed");
    EXPECT_EQ(read.planned.job.model_name, "qwen2.5-0.5b");
    EXPECT_EQ(read.planned.job.cluster.devices(), 4);
    EXPECT_EQ(read.planned.job.length, 512);
    EXPECT_EQ(read.planned.job.sequences, 2 * 4 * 8);
    EXPECT_EQ(read.planned.job.precision, DType::kFp16);
    EXPECT_EQ(read.planned.plan.recompute.kind, plan::RecomputeKind::kFull);
    EXPECT_EQ(plan::sharding_letters(read.planned.plan.sharding), "NGG");
    EXPECT_THAT(read.report.not_read, lists("train_mine.py", SettingImpact::kMaybe));
    EXPECT_THAT(read.report.not_read, lists("own_switch", SettingImpact::kMaybe));
    EXPECT_THAT(refusal_with({{"run.sh", text}}),
                HasSubstr("run.sh:2: the command reads conf/ds_zero2.json: give this file, too"));
  }
  const std::string unknown = "deepspeed train_mine.py --model_name own/model --deepspeed x.json\n";
  EXPECT_THAT(refusal_with({{"run.sh", unknown}, kStages2}),
              HasSubstr("model_name: no built-in model has the name own/model"));
  // Without a configuration, no file names the model.
  EXPECT_THAT(refusal_with({{"run.sh", "deepspeed train_mine.py --model_name Qwen/Qwen3-8B\n"}}),
              HasSubstr("is of no framework that is read"));
}

// microsoft/LMOps minillm/utils.py: initialize puts the batch of the arguments into it.
TEST(DeepspeedScript, TheBatchIsTheProgramsWhereTheConfigurationSaysNone) {
  const launch_scripts::SourceFile open{
      "ds.json", "{\"fp16\": {\"enabled\": true}, \"zero_optimization\": {\"stage\": 1}}"};
  const auto text = [](const std::string& words) {
    return "torchrun --nproc_per_node 4 finetune.py --model-path gpt2 --max-length 512 "
           "--batch-size 4 --gradient-accumulation-steps 8 --deepspeed --deepspeed_config "
           "ds.json " +
           words + "\n";
  };
  const ImportedPlan read = read_with({{"run.sh", text("--do-train --do-eval")}, open});
  EXPECT_EQ(read.planned.plan.micro_batch, 4);
  EXPECT_EQ(read.planned.job.sequences, 4 * 4 * 8);
  EXPECT_EQ(read.planned.job.model_name, "gpt2");
  EXPECT_EQ(read_with({{"run.sh", text("")}, {"ds.json", kStages2.text}}).planned.plan.micro_batch,
            2);
  EXPECT_THAT(refusal_with({{"run.sh", text("--do-eval")}, open}),
              HasSubstr("has no do_train: nothing is trained"));
}

TEST(DeepspeedScript, AConfigurationRightBehindTheProgramIsNoFileOfSettings) {
  const launch_scripts::SourceFile json{"ds.json",
                                        "{\"train_batch_size\": 16, \"bf16\": {\"enabled\": true}, "
                                        "\"zero_optimization\": {\"stage\": 3}}"};
  const launch_scripts::SourceFile script{
      "run.sh",
      "deepspeed --num_gpus=8 tune.py --deepspeed_config=ds.json --model_name "
      "Qwen/Qwen3-8B --max_length 2048\n"};
  const ImportedPlan read = read_with({script, json});
  EXPECT_EQ(plan::sharding_letters(read.planned.plan.sharding), "GGG");
  EXPECT_EQ(read.planned.job.sequences, 16);
  const launch_scripts::SourceFile open{
      "run.sh", "MODE=${1:-}\ndeepspeed tune.py --deepspeed_config=${MODE}.json\n"};
  EXPECT_THAT(refusal_with({open}), HasSubstr("--set MODE=VALUE"));
}

// deepspeedai/DeepSpeedExamples applications/DeepSpeed-Chat/dschat/utils/ds_utils.py.
TEST(DeepspeedScript, DeepSpeedChatMakesItsConfigurationOfItsArguments) {
  const auto read = [](const std::string& words) {
    return read_with({{"run.sh",
                       "ZERO_STAGE=$2\nif [ \"$ZERO_STAGE\" == \"\" ]; then ZERO_STAGE=0; fi\n"
                       "deepspeed main.py --model_name_or_path meta-llama/Llama-2-7b-hf "
                       "--per_device_train_batch_size 4 --max_seq_len 512 "
                       "--gradient_accumulation_steps 2 --deepspeed " +
                           words + " --output_dir out\n"}});
  };
  const ImportedPlan plain = read("--zero_stage $ZERO_STAGE");
  EXPECT_EQ(plain.planned.job.framework.name, "deepspeed");
  EXPECT_EQ(plan::sharding_letters(plain.planned.plan.sharding), "NNN");
  EXPECT_EQ(plain.planned.job.precision, DType::kFp16);
  EXPECT_EQ(plain.planned.job.length, 512);
  EXPECT_EQ(plain.planned.job.sequences, 4 * 8 * 2);
  const ImportedPlan third = read("--zero_stage 3 --offload --dtype bf16 --lora_dim 128");
  EXPECT_EQ(plan::sharding_letters(third.planned.plan.sharding), "GGG");
  EXPECT_EQ(third.planned.job.precision, DType::kBf16);
  EXPECT_TRUE(third.planned.plan.offload.parameters);
  EXPECT_FALSE(third.planned.job.model.adapters.has_value());  // Beside "decoder.layers." only.
  EXPECT_THAT(third.report.not_read, lists("lora_dim", SettingImpact::kYes));
  const ImportedPlan fourth =
      read("--zero_stage 3 --dtype bf16 --lora_dim 128 --lora_module_name layers.");
  ASSERT_TRUE(fourth.planned.job.model.adapters.has_value());
  EXPECT_EQ(fourth.planned.job.model.adapters->rank, 128);
  EXPECT_EQ(fourth.planned.job.model.adapters->alpha, 1);
  EXPECT_THAT(fourth.report.not_read, lists("only_optimize_lora", SettingImpact::kYes));
  EXPECT_THAT(refusal_with({{"run.sh",
                             "deepspeed main.py --model_name_or_path Qwen/Qwen3-8B --deepspeed "
                             "--per_device_train_batch_size 4 --output_dir out\n"}}),
              HasSubstr("deepspeed: names no configuration of DeepSpeed, which the program makes"));
}

TEST(HubScripts, AScriptThatEndsWithoutArgumentsSaysWhere) {
  const std::string script =
      "CONFIG=\"\"\nwhile [[ $# -gt 0 ]]; do\n  case \"$1\" in\n    --config) CONFIG=\"$2\"; shift "
      "2 "
      ";;\n    *) exit 1 ;;\n  esac\ndone\nif [[ -z \"$CONFIG\" ]]; then\n  exit 1\nfi\n"
      "accelerate launch scripts/sft.py --config \"$CONFIG\"\n";
  EXPECT_THAT(refusal_with({{"run.sh", script}}),
              HasSubstr("line 9 ends it before it starts anything: --set 1=VALUE is its first "
                        "argument"));
  EXPECT_THAT(refusal_with({{"run.sh", script}}, {.settings = {"1=--config", "2=a/sft.yaml"}}),
              HasSubstr("the command reads a/sft.yaml: give this file, too"));
}

TEST(HubScripts, AScriptThatStartsNothingIsSaidToStartNothing) {
  EXPECT_THAT(refusal_with({{"run.sh", "echo x > out.toml\n"}}),
              HasSubstr("no command has arguments of any framework that is read"));
  EXPECT_THAT(refusal_with({{"run.py", "from nemo.collections import llm\n"}}),
              HasSubstr("a program of NeMo 2"));
}

TEST(HubScripts, AProgramThatStartsCommandsIsToBeCaptured) {
  const launch_scripts::SourceFile program{
      "run.py", "import subprocess\nsubprocess.run(['torchrun', 'pretrain_gpt.py'])\n"};
  EXPECT_THAT(refusal_with({program}),
              testing::AllOf(HasSubstr("run.py:2: subprocess.run starts a command"),
                             HasSubstr("`stepwright import --capture -- python3 run.py ...`")));
  EXPECT_THAT(refusal_with({{"job.sh", "cd x && python3 run.py --size 2\n"}, program}),
              testing::AllOf(HasSubstr("run.py:2: subprocess.run starts a command"),
                             HasSubstr("`stepwright import --capture -- bash job.sh`")));
}

constexpr const char* kScriptToml =
    "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nlocal_batch_size = 2\n"
    "seq_len = 4096\n[parallelism]\ndata_parallel_shard_degree = -1\n"
    "tensor_parallel_degree = 1\n";

TEST(HubScripts, TorchtitanIsReadWithWhatItsCommandSaysOverItsFile) {
  const ImportedPlan plan = read_with(
      {{"train.sh",
        "torchrun --nproc_per_node=8 -m torchtitan.train --job.config_file conf/llama.toml \\\n"
        "  --parallelism.tensor_parallel_degree 4 --training.seq-len=8192\n"},
       {"llama.toml", kScriptToml}});
  EXPECT_EQ(plan.target, "torchtitan");
  EXPECT_EQ(plan.planned.plan.parallel.tensor, 4);
  EXPECT_EQ(plan.planned.job.length, 8192);
  EXPECT_EQ(plan.planned.job.cluster.devices(), 8);
}

TEST(HubScripts, RunTrainOfTorchtitanIsKnown) {
  const ScriptFiles files = {
      {"train.sh", "NGPU=4 CONFIG_FILE=\"./llama.toml\" ./run_train.sh --training.seq_len 2048\n"},
      {"llama.toml", kScriptToml}};
  const ImportedPlan plan = read_with(files);
  EXPECT_EQ(plan.planned.job.cluster.devices(), 4);
  EXPECT_EQ(plan.planned.job.length, 2048);
  EXPECT_THAT(refusal_with({files.front()}),
              HasSubstr("the command reads ./llama.toml: give this file, too"));
}

// torchtitan/distributed/utils.py: set_determinism.
TEST(HubScripts, DeterministicRunsOfTorchtitanAreRead) {
  for (const std::string word : {"--debug.deterministic", "--training.deterministic=true"}) {
    const ImportedPlan plan = read_with(
        {{"train.sh",
          "torchrun --nproc_per_node=8 -m torchtitan.train --job.config_file llama.toml " + word +
              "\n"},
         {"llama.toml", kScriptToml}});
    EXPECT_TRUE(plan.planned.job.kernels.deterministic) << word;
  }
}

TEST(HubScripts, AnOpenValueNamesTheScriptThatMaySetIt) {
  EXPECT_THAT(refusal_with({{"train.sh",
                             "source env/sizes.sh\ntorchrun --nproc_per_node=8 -m torchtitan.train "
                             "--job.config_file llama.toml --training.seq_len $LENGTH\n"},
                            {"llama.toml", kScriptToml}}),
              AllOf(HasSubstr("--set LENGTH=VALUE"),
                    HasSubstr("(or give the script that sets it: env/sizes.sh in train.sh:1)")));
}

TEST(HubScripts, ProgramsThatAreGivenAFileAreReadWithIt) {
  const ImportedPlan neox =
      read_with({{"run.sh",
                  "#SBATCH --ntasks=1\n#SBATCH --gres=gpu:4\n"
                  "python ./deepy.py train.py -d configs small local\n"},
                 {"small.yml",
                  "{\"pipe_parallel_size\": 1, \"model_parallel_size\": 2, \"num_layers\": 12,\n"
                  "\"hidden_size\": 768, \"num_attention_heads\": 12, \"seq_length\": 2048,\n"
                  "\"max_position_embeddings\": 2048, \"make_vocab_size_divisible_by\": 128,\n"
                  "\"train_micro_batch_size_per_gpu\": 4, \"padded_vocab_size\": 50304}"},
                 {"local.yml", "{\"gradient_accumulation_steps\": 2}"}},
                {.batch = ""});
  EXPECT_EQ(neox.target, "gpt-neox");
  EXPECT_EQ(neox.planned.plan.parallel.tensor, 2);
  EXPECT_EQ(neox.planned.plan.parallel.data, 2) << "one task starts a process for each device";
  EXPECT_THAT(refusal_with({{"run.sh", "python deepy.py train.py conf/a.yml\n"}}),
              HasSubstr("the command reads conf/a.yml: give this file, too"));
  const launch_scripts::SourceFile policy{
      "grpo.yaml",
      "policy:\n  model_name: Qwen/Qwen3-8B\n  train_global_batch_size: 64\n"
      "  train_micro_batch_size: 1\n  max_total_sequence_length: 4096\n  precision: bfloat16\n"
      "  dtensor_cfg: {enabled: true, tensor_parallel_size: 1}\n"
      "cluster: {num_nodes: 1, gpus_per_node: 8}\n"};
  const ImportedPlan rl = read_with(
      {{"run.sh",
        "uv run examples/run_grpo_math.py --config conf/grpo.yaml cluster.num_nodes=2 \\\n"
        "  ++policy.dtensor_cfg.tensor_parallel_size=4 policy.generation.stop=[a,b]\n"},
       policy});
  EXPECT_EQ(rl.target, "nemo-rl");
  EXPECT_EQ(rl.planned.plan.parallel.tensor, 4);
  EXPECT_EQ(rl.planned.job.cluster.devices(), 16);
}

TEST(HubScripts, EasyR1IsNotTakenForVerl) {
  EXPECT_THAT(
      refusal_with({{"run.sh",
                     "python3 -m verl.trainer.main config=c.yaml worker.actor.model.model_path=x "
                     "trainer.n_gpus_per_node=4\n"}}),
      HasSubstr("EasyR1"));
}

TEST(HubScripts, AConfigurationThatSedMakesIsReadAsItsSource) {
  const std::vector<launch_scripts::SourceFile> files = {
      {"run.sh",
       "sed \"s/seed: .*/seed: $1/\" base.yaml > made.yaml\nllamafactory-cli train made.yaml\n"},
      {"base.yaml",
       "model_name_or_path: meta-llama/Meta-Llama-3-8B\nstage: sft\ncutoff_len: 2048\n"
       "per_device_train_batch_size: 2\nbf16: true\n"}};
  const ImportedPlan plan = import_plan_files("", files, {.cluster = "dgx-h100"});
  EXPECT_EQ(plan.planned.plan.micro_batch, 2);
  EXPECT_THAT(plan.report.not_read, lists("sed base.yaml", SettingImpact::kMaybe));
}

TEST(HubScripts, AConfigurationThatIsAnArgumentIsAskedFor) {
  EXPECT_THAT(
      [] { import_text("", "run.sh", "CONFIG=$1\nllamafactory-cli train $CONFIG\n"); },
      testing::ThrowsMessage<Error>(testing::HasSubstr("the script does not set it: --set ")));
}

TEST(HubScripts, TheModuleOfAccelerateIsItsLauncher) {
  const ImportedPlan plan =
      import_text("", "run.sh",
                  "python -m accelerate.commands.launch --num_machines 2 --num_processes 8 sft.py "
                  "--model_name_or_path meta-llama/Meta-Llama-3-8B --per_device_train_batch_size 2 "
                  "--max_length 512 --bf16\n",
                  {.cluster = "dgx-h100"});
  EXPECT_EQ(plan.planned.job.cluster.nodes, 2);
  EXPECT_EQ(plan.planned.job.cluster.devices_per_node, 4);
}

TEST(Verl, TheMethodIsTheObjective) {
  const std::string script =
      "A=actor_rollout_ref\nargs=(\n  algorithm.adv_estimator=grpo\n"
      "  data.train_batch_size=1024 data.max_prompt_length=1024 data.max_response_length=1024\n"
      "  $A.model.path=Qwen/Qwen2.5-0.5B-Instruct $A.model.enable_gradient_checkpointing=True\n"
      "  $A.actor.ppo_mini_batch_size=256 $A.actor.ppo_micro_batch_size_per_gpu=32\n"
      "  $A.actor.use_kl_loss=True $A.rollout.name=sglang $A.rollout.n=5\n"
      "  $A.rollout.log_prob_micro_batch_size_per_gpu=32\n"
      "  trainer.nnodes=1 trainer.n_gpus_per_node=4\n)\n"
      "python3 -m verl.trainer.main_ppo \"${args[@]}\"\n";
  const ImportedPlan made = import_text("", "run.sh", script, {.cluster = "alps-gh200"});
  const plan::TrainingMethod& method = made.planned.job.method;
  EXPECT_EQ(made.planned.job.framework.variant, "verl");
  EXPECT_EQ(made.planned.job.sequences, 1280);
  EXPECT_EQ(method.kind, plan::TrainingMethodKind::kGrpo);
  EXPECT_EQ(method.updates, 4);
  EXPECT_EQ(method.reference.place, plan::SecondModelPlace::kHost);
  EXPECT_EQ(method.forward_micro_batch, 32);
  EXPECT_EQ(method.rollout->prompt, 1024);
  EXPECT_EQ(method.rollout->tensor, 2);
  EXPECT_THAT(made.report.read, takes("algorithm.adv_estimator", "job.objective.kind"));
  const ImportedPlan documents = import_text(
      "", "run.sh", script,
      {.cluster = "alps-gh200",
       .batch =
           "{sequences: 1280, length: 2048, lengths: {lognormal: {median: 400, sigma: 0.4}}}"});
  EXPECT_LT(documents.planned.job.method.rollout->prompt, 250);
  const ImportedPlan values = import_text(
      "", "run.sh",
      "python3 -m verl.trainer.main_ppo data.max_prompt_length=512 data.max_response_length=512 "
      "actor_rollout_ref.model.path=Qwen/Qwen3-8B "
      "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=4 trainer.nnodes=1 "
      "trainer.n_gpus_per_node=8\n",
      {.cluster = "dgx-h100"});
  EXPECT_EQ(values.planned.job.method.kind, plan::TrainingMethodKind::kPpo);
  EXPECT_EQ(values.planned.job.method.updates, 4);
  EXPECT_EQ(values.planned.job.method.reference.place, plan::SecondModelPlace::kNone);
}

TEST(Trl, TheMethodIsTheObjective) {
  const std::string words =
      " --model_name_or_path Qwen/Qwen3-0.6B --per_device_train_batch_size 2 "
      "--gradient_accumulation_steps 4 --output_dir out ";
  const auto of = [&](const std::string& script) {
    return import_text("", "run.sh", "torchrun --nproc_per_node 8 " + script + "\n",
                       {.cluster = "dgx-h100"})
        .planned;
  };
  const plan::PlannedJob tuning = of("-m trl.scripts.sft" + words);
  EXPECT_EQ(tuning.job.method.kind, plan::TrainingMethodKind::kSft);
  EXPECT_EQ(tuning.job.framework.variant, "trl");
  const plan::PlannedJob pairs = of("-m trl.scripts.dpo" + words + "--beta 0.1");
  EXPECT_EQ(pairs.job.method.kind, plan::TrainingMethodKind::kDpo);
  EXPECT_EQ(pairs.job.sequences, 128);
  EXPECT_EQ(pairs.plan.micro_batch, 4);
  const plan::PlannedJob groups =
      of("-m trl.scripts.grpo" + words +
         "--num_generations 8 --num_iterations 2 --steps_per_generation 8 "
         "--max_prompt_length 256 --max_completion_length 768");
  EXPECT_EQ(groups.job.method.kind, plan::TrainingMethodKind::kGrpo);
  EXPECT_EQ(groups.job.method.updates, 4);
  EXPECT_EQ(groups.job.method.reference.place, plan::SecondModelPlace::kNone);
  EXPECT_EQ(groups.job.length, 1024);
  EXPECT_EQ(groups.job.sequences, 64);
}

}  // namespace
}  // namespace stepwright::framework_files
