#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "imported.h"
#include "stepwright/core/error.h"
#include "stepwright/framework_files/launch_file.h"

namespace stepwright {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;

using ScriptFiles = std::vector<SourceFile>;

ImportedPlan read_with(const ScriptFiles& files, Given given = {}) {
  if (given.cluster.empty()) given.cluster = "dgx-h100";
  return import_sources("", files, given);
}

std::string refusal_with(const ScriptFiles& files, Given given = {}) {
  try {
    read_with(files, std::move(given));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

const SourceFile kSftSettings{"conf/sft.yaml",
                              "model_name_or_path: Qwen/Qwen3-8B\nmax_length: 4096\nbf16: true\n"
                              "per_device_train_batch_size: 2\ngradient_accumulation_steps: 8\n"
                              "gradient_checkpointing: true\noutput_dir: out\n"};
const SourceFile kSftStages{"stages.yaml",
                            "distributed_type: DEEPSPEED\nmixed_precision: bf16\nnum_machines: 1\n"
                            "num_processes: 8\ndeepspeed_config: {zero_stage: 3}\n"};

// The form of huggingface/alignment-handbook scripts/README.md and huggingface/open-r1 README.md.
TEST(TrainerScript, TakesTheFileOfSettingsThatItNames) {
  const SourceFile script{"run.sh",
                          "#!/bin/bash\nsource ~/.bashrc\nsource venv/bin/activate\n"
                          "accelerate launch --config_file stages.yaml scripts/sft.py "
                          "--config recipes/sft.yaml --gradient_accumulation_steps 4\n"};
  const ImportedPlan plan = read_with({script, kSftStages, kSftSettings});
  EXPECT_EQ(plan.target, "hf");
  EXPECT_EQ(plan.planned.job.model_name, "qwen3-8b");
  EXPECT_EQ(plan.planned.job.length, 4096);
  EXPECT_EQ(plan.planned.job.sequences, 2 * 8 * 4);
  EXPECT_EQ(sharding_word(plan.planned.plan.sharding), "GGG");
  EXPECT_EQ(plan.planned.plan.recompute.kind, RecomputeKind::kFull);
  EXPECT_THAT(plan.report.read, takes("max_length", "job.batch.length"));
  for (const UnreadSetting& one : plan.report.not_read) {
    EXPECT_THAT(one.name, testing::Not(HasSubstr("activate")));
  }
  EXPECT_THAT(refusal_with({script, kSftStages}),
              HasSubstr("run.sh:4: names recipes/sft.yaml: give this file, too"));
  EXPECT_THAT(refusal_with({script, kSftSettings}),
              HasSubstr("names a configuration of Accelerate: give its file, too"));
}

TEST(TrainerScript, TakesTheFileBehindItsProgram) {
  const SourceFile script{"run.sh",
                          "#!/bin/bash\ntorchrun --nproc_per_node 4 --nnodes 1 "
                          "run_sft.py conf/sft.yaml\n"};
  const ImportedPlan plan = read_with({script, kSftSettings});
  EXPECT_EQ(plan.planned.job.sequences, 4 * 2 * 8);
}

// huggingface/trl trl/cli, trl/accelerate_configs.
TEST(TrainerScript, TrlBringsConfigurationsAndDefaults) {
  const SourceFile settings{"sft.yaml",
                            "model_name_or_path: Qwen/Qwen3-8B\nper_device_train_batch_size: 1\n"};
  const auto with = [&](const std::string& word) -> ScriptFiles {
    return {{"run.sh", "#!/bin/bash\ntrl sft --config sft.yaml --accelerate_config " + word},
            settings};
  };
  const ImportedPlan plan = read_with(with("zero2"));
  EXPECT_EQ(sharding_word(plan.planned.plan.sharding), "NGG");
  EXPECT_EQ(plan.planned.job.length, 1024);
  EXPECT_EQ(plan.planned.job.precision, DType::kBf16);
  EXPECT_EQ(plan.planned.plan.recompute.kind, RecomputeKind::kFull);
  EXPECT_EQ(sharding_word(read_with(with("fsdp2")).planned.plan.sharding), "GGG");
  EXPECT_THAT(refusal_with(with("zero4")),
              HasSubstr("accelerate_config: names a configuration of Accelerate"));
}

TEST(TrainerScript, OtherLossesAreLeftOut) {
  const SourceFile script{"run.sh", "#!/bin/bash\ntrl dpo --config sft.yaml\n"};
  EXPECT_THAT(read_with({script, kSftSettings}).report.not_read, lists("dpo", Matters::kYes));
}

TEST(TrainerScript, ContradictionsWithTheLauncherAreNamed) {
  const SourceFile script{"run.sh",
                          "#!/bin/bash\naccelerate launch --config_file stages.yaml "
                          "--gradient_accumulation_steps 2 sft.py --config conf/sft.yaml\n"};
  EXPECT_THAT(refusal_with({script, kSftStages, kSftSettings}),
              HasSubstr("gradient_accumulation_steps is 2, the trainer's "
                        "gradient_accumulation_steps says 8"));
}

TEST(TrainerScript, ValuesThatItLeavesOpenAreListed) {
  const SourceFile script{
      "run.sh",
      "#!/bin/bash\nSTEPS=$(grep steps conf/sft.yaml)\n"
      "accelerate launch --config_file stages.yaml --gradient_accumulation_steps $STEPS "
      "--num_machines $COUNT sft.py --config conf/sft.yaml\n"};
  const ImportedPlan plan = read_with({script, kSftStages, kSftSettings});
  EXPECT_EQ(plan.planned.job.sequences, 2 * 8 * 8);
  EXPECT_THAT(plan.report.not_read,
              Contains(AllOf(Field(&UnreadSetting::name, "--gradient_accumulation_steps"),
                             Field(&UnreadSetting::why, HasSubstr("--set STEPS=VALUE")))));
  EXPECT_THAT(plan.report.not_read,
              Contains(AllOf(Field(&UnreadSetting::name, "--num_machines"),
                             Field(&UnreadSetting::matters, Matters::kYes),
                             Field(&UnreadSetting::why, HasSubstr("--set COUNT=VALUE")))));
}

TEST(TrainerScript, AccelerateIsAlsoJson) {
  const SourceFile script{"run.sh",
                          "#!/bin/bash\naccelerate launch --config_file stages.json "
                          "sft.py --config conf/sft.yaml\n"};
  const SourceFile json{"stages.json",
                        R"({"distributed_type": "FSDP", "mixed_precision": "bf16",
    "num_machines": 1, "num_processes": 4,
    "fsdp_config": {"fsdp_version": 2, "fsdp_reshard_after_forward": false}})"};
  const ImportedPlan plan = read_with({script, json, kSftSettings});
  EXPECT_EQ(sharding_word(plan.planned.plan.sharding), "NGG");
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
  EXPECT_THAT(plan.report.read,
              Contains(AllOf(Field(&ReadSetting::name, "micro_batch_size"),
                             Field(&ReadSetting::file, "job.sh"), Field(&ReadSetting::line, 7U))));
}

TEST(AxolotlScript, OptionsStandOverItsFile) {
  const SourceFile script{"run.sh",
                          "#!/bin/bash\naxolotl train conf/a.yaml --micro-batch-size 4\n"};
  const SourceFile settings{"a.yaml",
                            "base_model: Qwen/Qwen3-8B\nsequence_len: 2048\nmicro_batch_size: 1\n"};
  EXPECT_EQ(read_with({script, settings}).planned.plan.micro_batch, 4);
  EXPECT_THAT(refusal_with({script}),
              HasSubstr("run.sh:2: names conf/a.yaml: give this file, too"));
}

TEST(LlamaFactoryScript, AFileThatItWritesMayTrainNothing) {
  const SourceFile script{
      "eval.sh",
      "#!/usr/bin/env bash\nCLI=llamafactory-cli\n"
      "read -r MODEL OUT <<EOF\n$(python - \"$1\" <<'PY'\nprint('a: b')\nPY\n)\n"
      "EOF\ncat > out/predict.yaml <<EOF\nmodel_name_or_path: $MODEL\n"
      "stage: sft\ndo_predict: true\ncutoff_len: 1024\noutput_dir: $OUT\nEOF\n"
      "( cd \"$ROOT\" && \"$CLI\" train out/predict.yaml )\n"};
  EXPECT_THAT(refusal_with({script}), HasSubstr("has no do_train: nothing is trained"));
}

TEST(Script, ADeepSpeedFileThatItWritesIsTaken) {
  const SourceFile script{
      "run.sh",
      "#!/bin/bash\ncat > ds.json <<EOF\n{\"zero_optimization\": {\"stage\": 2}, "
      "\"bf16\": {\"enabled\": \"auto\"}}\nEOF\n"
      "deepspeed --num_gpus 4 train.py --deepspeed ds.json --bf16 True "
      "--model_name_or_path Qwen/Qwen3-8B --model_max_length 2048 "
      "--per_device_train_batch_size 1\n"};
  const ImportedPlan plan = read_with({script});
  EXPECT_EQ(sharding_word(plan.planned.plan.sharding), "NGG");
  EXPECT_EQ(plan.planned.plan.parallel.data, 4);
}

TEST(Script, ProgramsThatNobodyReadsAreNamed) {
  EXPECT_THAT(refusal_with({{"gpt.sh",
                             "#!/bin/bash\nsrun bash -c \"python3 -u "
                             "/opt/NeMo/examples/nlp/language_modeling/megatron_gpt_pretraining.py "
                             "model.global_batch_size=64\"\n"}}),
              AllOf(HasSubstr("gpt.sh: starts /opt/NeMo/examples/nlp/language_modeling/"
                              "megatron_gpt_pretraining.py (of NeMo 1"),
                    HasSubstr("in gpt.sh:2, which is of no framework that is read")));
}

TEST(Script, ScriptsThatAreMissingAreNamedWhereTheModelIs) {
  EXPECT_THAT(refusal_with({{"run.sh",
                             "#!/bin/bash\nsource models/sizes.sh\ntorchrun train.py ${SIZES[@]} "
                             "--micro-batch-size 1 --global-batch-size 8 --seq-length 128\n"}}),
              HasSubstr("run.sh:2 goes on with models/sizes.sh, which is not among the files: give "
                        "it, too"));
}

// The form of volcengine/verl examples: a word of Hydra that ends like a program.
TEST(Script, WordsOfHydraAreNoPrograms) {
  const SourceFile script{
      "grpo.sh",
      "#!/bin/bash\npython3 -m verl.trainer.main_ppo actor_rollout_ref.model.path=Qwen/Qwen3-8B "
      "actor_rollout_ref.actor.ppo_mini_batch_size=64 "
      "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=2 "
      "custom_reward_function.path=rewards/mine.py trainer.n_gpus_per_node=8 trainer.nnodes=1\n"};
  const ImportedPlan plan = read_with({script});
  EXPECT_EQ(plan.planned.job.model_name, "qwen3-8b");
  EXPECT_EQ(plan.planned.job.sequences, 64);
}

}  // namespace
}  // namespace stepwright
