#include "stepwright/framework_files/launchers/started.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stepwright/core/error.h"
#include "stepwright/framework_files/launch_file.h"

namespace stepwright::framework_files {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::Not;

/// Arguments of the model that all these scripts train.
constexpr std::string_view kTrainedModel =
    " --num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 4096 "
    "--max-position-embeddings 4096 --vocab-size 32000 --micro-batch-size 1 "
    "--global-batch-size 512 --bf16 ";

std::string with_model_words(std::string text) {
  for (std::size_t at = text.find("MODEL_WORDS"); at != std::string::npos;
       at = text.find("MODEL_WORDS")) {
    text.replace(at, 11, kTrainedModel);
  }
  return text;
}

ImportedPlan imported_scripts(const std::vector<std::pair<std::string, std::string>>& files,
                              UserFacts given = {}) {
  if (given.cluster.empty()) given.cluster = "dgx-h100";
  std::vector<launch_scripts::SourceFile> sources;
  for (const auto& [name, text] : files) sources.push_back({name, with_model_words(text)});
  return import_plan_files("megatron", sources, given);
}

ImportedPlan read_started(const std::string& text, UserFacts given = {}) {
  return imported_scripts({{"train.sh", text}}, std::move(given));
}

plan::ParallelismDegrees degrees(const std::string& text, UserFacts given = {}) {
  return read_started(text, std::move(given)).planned.plan.parallel;
}

std::string import_refusal(const std::vector<std::pair<std::string, std::string>>& files,
                           UserFacts given = {}) {
  try {
    imported_scripts(files, std::move(given));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

auto not_read(const std::string& name, SettingImpact matters, const std::string& why) {
  return Contains(AllOf(Field(&SettingNotInPlan::name, name),
                        Field(&SettingNotInPlan::matters, matters),
                        Field(&SettingNotInPlan::why, HasSubstr(why))));
}

constexpr const char* kOpenScript = R"(#!/bin/bash
#SBATCH --nodes=4
#SBATCH --gres=gpu:8
#SBATCH --ntasks-per-node=1
TP=2
if [ "$FSDP" = 1 ]; then
  TP=1
  OPT="--use-megatron-fsdp --data-parallel-sharding-strategy optim_grads_params"
else
  OPT="--use-distributed-optimizer"
fi
[ -n "$WANDB" ] && LOG="--wandb-project x"
if [ ! -f pretrain_gpt.py ]; then exit 1; fi
srun torchrun --nnodes $SLURM_NNODES --nproc-per-node $SLURM_GPUS_ON_NODE pretrain_gpt.py \
  MODEL_WORDS --tensor-model-parallel-size $TP $OPT ${LOG:-} $EXTRA_ARGS
)";

TEST(Started, AnOpenConditionIsListedWithWhatHangsOnIt) {
  const ImportedPlan plan = read_started(kOpenScript);
  EXPECT_EQ(plan.planned.plan.parallel.tensor, 2);
  EXPECT_EQ(plan.planned.job.cluster.nodes, 4);
  EXPECT_EQ(plan::sharding_letters(plan.planned.plan.sharding), "NNG");
  EXPECT_THAT(plan.report.not_read,
              not_read("[ \"$FSDP\" = 1 ]", SettingImpact::kMaybe,
                       "--tensor-model-parallel-size 1 instead of 2, no --use-distributed-"
                       "optimizer, --use-megatron-fsdp; --set FSDP=VALUE states it"));
  EXPECT_THAT(plan.report.not_read,
              not_read("[ -n \"$WANDB\" ]", SettingImpact::kNo, "--wandb-project x"));
  EXPECT_THAT(plan.report.not_read, not_read("$EXTRA_ARGS", SettingImpact::kMaybe, "arguments"));
  EXPECT_THAT(plan.report.not_read,
              Not(Contains(Field(&SettingNotInPlan::name, HasSubstr("pretrain_gpt.py")))));
}

TEST(Started, AnEmptyDefaultIsForTheEnvironmentToSay) {
  const std::string text = R"(DATA=${DATA:-}
if [[ -z "$DATA" ]]; then
  echo "set DATA" >&2
  exit 1
fi
TP=${TP:-2}
)" + std::string(kOpenScript).substr(std::string(kOpenScript).find("srun"));
  EXPECT_THAT(import_refusal({{"train.sh", "D=${D:-}\n[ -z \"$D\" ] && exit 1\nbash ./run.sh\n"}}),
              HasSubstr("runs ./run.sh"));
  EXPECT_EQ(degrees(text).tensor, 2);
}

TEST(Started, SettingsDecideAndStandInThePlaceOfAssignments) {
  const ImportedPlan plan = read_started(kOpenScript, {.settings = {"FSDP=1"}});
  EXPECT_EQ(plan.planned.plan.parallel.tensor, 1);
  EXPECT_EQ(plan::sharding_letters(plan.planned.plan.sharding), "GGG");
  EXPECT_EQ(degrees(kOpenScript, {.settings = {"TP=8", "EXTRA_ARGS=--sequence-parallel"}}).tensor,
            8);
  EXPECT_EQ(read_started(kOpenScript, {.nodes = 2}).planned.job.cluster.nodes, 2);
  EXPECT_THAT(import_refusal({{"train.sh", kOpenScript}}, {.settings = {"TQ=8"}}),
              HasSubstr("--set: 'TQ=8' must be NAME=VALUE of a variable that train.sh has"));
}

TEST(Started, SeveralCommandsAreNamed) {
  const std::string text =
      "python preprocess_data.py --tokenizer-type X --vocab-file y\n"
      "for TP in 1 2; do\n"
      "  torchrun --nproc-per-node 8 pretrain_gpt.py MODEL_WORDS --tensor-model-parallel-size $TP\n"
      "done\npython my_server.py --load /x\n";
  EXPECT_THAT(import_refusal({{"train.sh", text}}),
              AllOf(HasSubstr("starts 2 jobs of Megatron-LM: 1: pretrain_gpt.py (train.sh:3); 2: "),
                    HasSubstr("--tensor-model-parallel-size 2 instead of 1; --command N")));
  EXPECT_EQ(degrees(text, {.command = 2}).tensor, 2);
  EXPECT_EQ(degrees(text, {.settings = {"TP=4"}}).tensor, 4);
  EXPECT_THAT(import_refusal({{"train.sh", text}}, {.command = 3}), HasSubstr("no command 3"));
  EXPECT_THAT(import_refusal({{"train.sh", "python my_server.py --load /x\n"}}),
              HasSubstr("no command has arguments of Megatron-LM"));
}

TEST(Started, AProgramOfFilesStartsNoneOfThem) {
  EXPECT_EQ(degrees("chmod +x pretrain_gpt.py\n"
                    "torchrun --nproc_per_node 8 pretrain_gpt.py --tensor-model-parallel-size 2 "
                    "MODEL_WORDS\ncp pretrain_gpt.py logs\n")
                .tensor,
            2);
}

TEST(Started, GoesOnWithFilesThatAreGiven) {
  const std::string outer = "export MBS=1\nTP=2 PP=4 bash ./inner.sh --sequence-parallel\n";
  const std::string inner =
      "source conf.sh\ntorchrun --nproc-per-node 8 --nnodes $NODES pretrain_gpt.py MODEL_WORDS "
      "--tensor-model-parallel-size ${TP:-1} --pipeline-model-parallel-size ${PP:-1} \"$@\"\n";
  const ImportedPlan plan =
      imported_scripts({{"run.sh", outer}, {"x/inner.sh", inner}, {"conf.sh", "NODES=2\n"}});
  EXPECT_EQ(plan.planned.plan.parallel.tensor, 2);
  EXPECT_EQ(plan.planned.plan.parallel.pipeline, 4);
  EXPECT_TRUE(plan.planned.plan.sequence_parallel);
  EXPECT_EQ(plan.planned.job.cluster.nodes, 2);
  EXPECT_EQ(plan.report.read.front().file, "x/inner.sh");
  EXPECT_THAT(import_refusal({{"run.sh", outer}}),
              HasSubstr("line 2 runs ./inner.sh, which is not among the given files"));
  EXPECT_THAT(imported_scripts({{"run.sh", outer}, {"inner.sh", inner}}).report.not_read,
              not_read("conf.sh", SettingImpact::kMaybe, "not among the given files"));
}

TEST(Started, SaysHowToSettleWhatIsOpen) {
  const std::string text =
      "SIZE=$1\nif [ $SIZE = 8B ]; then L=32; elif [ $SIZE = 70B ]; then L=80; fi\n"
      "torchrun pretrain_gpt.py MODEL_WORDS --num-layers $L --tensor-model-parallel-size $TP\n";
  EXPECT_THAT(
      import_refusal({{"train.sh", text}}, {.settings = {"TP=1"}}),
      AllOf(HasSubstr("it is '$L'"), HasSubstr("--set L=VALUE, or decide ["),
            HasSubstr("[ $SIZE = 8B ] in line 2: "), HasSubstr("--num-layers 80 instead of $L"),
            HasSubstr("--set SIZE=VALUE states it")));
  EXPECT_THAT(import_refusal({{"train.sh", text}}, {.settings = {"SIZE=8B"}}),
              HasSubstr("it is '$TP'"));
  EXPECT_EQ(read_started(text, {.settings = {"1=8B", "TP=2"}}).planned.job.model.layers, 32);
}

TEST(Started, ArgumentsThatACommandPrintsAreRefused) {
  const std::string text =
      "PARAMS=$(yq .args model.yaml)\ntorchrun pretrain_gpt.py --bf16 $PARAMS MODEL_WORDS\n";
  EXPECT_THAT(import_refusal({{"train.sh", text}}),
              AllOf(HasSubstr("train.sh:"), HasSubstr("$(yq .args model.yaml)"),
                    HasSubstr("--set PARAMS=VALUE")));
  EXPECT_EQ(degrees(text, {.settings = {"PARAMS=--tensor-model-parallel-size 4"}}).tensor, 4);
  EXPECT_EQ(degrees("torchrun pretrain_gpt.py MODEL_WORDS --load $(ls -t | head -1)\n").tensor, 1);
}

TEST(Started, TakesTheOneConditionWithoutWhichNothingStarts) {
  const ImportedPlan plan =
      read_started("if [ \"$MODE\" = train ]; then\n  torchrun pretrain_gpt.py MODEL_WORDS\nfi\n");
  EXPECT_EQ(plan.planned.job.model.layers, 32);
  EXPECT_THAT(import_refusal({{"train.sh",
                               "case $M in\n  a) torchrun pretrain_gpt.py MODEL_WORDS ;;\n  b) "
                               "torchrun pretrain_gpt.py MODEL_WORDS --swiglu ;;\nesac\n"}}),
              HasSubstr("line 1 is undecided: case $M, --set M=VALUE states it"));
}

TEST(Started, TheLauncherSaysHowManyRanksThereAre) {
  const auto devices = [](const std::string& launcher) {
    return read_started(launcher + " pretrain_gpt.py MODEL_WORDS\n").planned.job.cluster.devices();
  };
  EXPECT_EQ(devices("torchrun --nproc_per_node=4"), 4);
  EXPECT_EQ(devices("torchrun --nnodes 2 --nproc-per-node 8"), 16);
  EXPECT_EQ(devices("python -m torch.distributed.launch --nproc_per_node 8 --nnodes=4"), 32);
  EXPECT_EQ(devices("deepspeed --num_nodes 2 --num_gpus 8"), 16);
  EXPECT_EQ(devices("accelerate launch --num_processes 16 --num_machines 2"), 16);
  EXPECT_EQ(devices("mpirun -np 16 -N 8 python"), 16);
  EXPECT_EQ(devices("mpirun -np 32 --map-by ppr:8:node python"), 32);
  EXPECT_EQ(devices("#SBATCH --nodes=2 --ntasks-per-node=1 --gpus-per-task=8\nsrun torchrun "
                    "--nnodes $SLURM_NNODES --nproc_per_node $SLURM_GPUS_PER_TASK"),
            16);
  EXPECT_EQ(devices("srun -N 2 --ntasks-per-node 8 python"), 16);
  EXPECT_EQ(devices("#SBATCH --nodes=2 --ntasks-per-node=1 --gres=gpu:a100:8\nsrun torchrun "
                    "--nnodes $SLURM_NNODES --nproc_per_node $SLURM_GPUS_ON_NODE"),
            16);
}

TEST(Started, DevicesThatAreTooFewAreForTheUserToSay) {
  const std::string text =
      "torchrun --nproc_per_node 8 --nnodes ${NODES:-1} pretrain_gpt.py "
      "--tensor-model-parallel-size 4 --pipeline-model-parallel-size 8 MODEL_WORDS\n";
  EXPECT_THAT(import_refusal({{"train.sh", text}}), HasSubstr("--nodes or --gpus"));
  EXPECT_EQ(degrees(text, {.nodes = 8}).data, 2);
}

TEST(Started, APartOfOneNodeIsItsDevices) {
  const auto cluster = [](UserFacts given) {
    return read_started("torchrun --nproc_per_node=4 pretrain_gpt.py MODEL_WORDS\n",
                        std::move(given))
        .planned.job.cluster;
  };
  for (const UserFacts& given :
       {UserFacts{.cluster = "dgx-h100"}, UserFacts{.cluster = "dgx-h100:1"},
        UserFacts{.cluster = "dgx-h100", .nodes = 1},
        UserFacts{.cluster = "dgx-h100", .nodes = 1, .devices = 4}}) {
    EXPECT_EQ(cluster(given).nodes, 1);
    EXPECT_EQ(cluster(given).devices_per_node, 4);
  }
}

// Open MPI's mpirun(1), and Hydra of MPICH and Intel MPI: processes in all and of each node.
TEST(Started, AnMpiRunSaysHowManyProcessesEachNodeHas) {
  const auto cluster = [](const std::string& launcher, UserFacts given = {}) {
    return read_started(launcher + " python pretrain_gpt.py MODEL_WORDS\n", std::move(given))
        .planned.job.cluster;
  };
  for (const char* launcher :
       {"mpirun -np 8 -npernode 4", "mpiexec -n 8 -ppn 4", "mpiexec.hydra -n 8 -perhost 4",
        "mpirun -np 8 -map-by ppr:4:node"}) {
    EXPECT_EQ(cluster(launcher).nodes, 2) << launcher;
    EXPECT_EQ(cluster(launcher).devices_per_node, 4) << launcher;
  }
  const std::string open = "mpiexec -n $((NODES * 4)) -ppn 4";
  EXPECT_EQ(cluster(open, {.nodes = 2}).devices(), 8);
  EXPECT_EQ(cluster(open).devices(), 4);
  EXPECT_THAT(read_started(open + " python pretrain_gpt.py MODEL_WORDS\n").report.not_read,
              not_read("-n", SettingImpact::kYes, "how many devices train"));
}

// NVIDIA/Megatron-LM: pretrain_bert.py, pretrain_vlm.py.
TEST(Started, ProgramsOfOtherModelsAreRefusedAndTowersOfImagesSaid) {
  EXPECT_THAT(import_refusal({{"train.sh", "torchrun pretrain_bert.py MODEL_WORDS\n"}}),
              HasSubstr("train.sh:1: pretrain_bert.py trains BERT"));
  EXPECT_THAT(
      read_started("torchrun pretrain_vlm.py MODEL_WORDS\n").report.not_read,
      not_read("pretrain_vlm.py", SettingImpact::kYes, "the language model alone is in the plan"));
  EXPECT_THAT(read_started("torchrun pretrain_prefix_lm.py MODEL_WORDS\n").report.not_read,
              not_read("pretrain_prefix_lm.py", SettingImpact::kYes,
                       "tokens of what comes first see each other"));
}

TEST(Started, AForksOwnArgumentsAreNearNoOther) {
  const ImportedPlan plan =
      read_started("torchrun pretrain_gpt.py MODEL_WORDS --use-hetnet --sequence-paralel\n");
  EXPECT_THAT(plan.report.not_read,
              not_read("--use-hetnet", SettingImpact::kMaybe, "a fork's own"));
  EXPECT_THAT(plan.report.not_read, not_read("--sequence-paralel", SettingImpact::kMaybe,
                                             "did you mean --sequence-parallel?"));
}

TEST(Started, TheEnvironmentIsNotedAndChoosesTheKernelOfAttention) {
  const auto with_variables = [](const std::string& variables) {
    return read_started("export " + variables +
                        "\ntorchrun --nproc-per-node 8 pretrain_gpt.py MODEL_WORDS\n");
  };
  const ImportedPlan ring = with_variables("NCCL_ALGO=Ring NCCL_DEBUG=INFO NCCL_NEW=1 HOME=/x");
  EXPECT_THAT(ring.report.not_read,
              not_read("NCCL_ALGO", SettingImpact::kYes, "NCCL chooses by itself"));
  EXPECT_THAT(ring.report.not_read, not_read("NCCL_DEBUG", SettingImpact::kNo, ""));
  EXPECT_THAT(ring.report.not_read, not_read("NCCL_NEW", SettingImpact::kMaybe, ""));
  EXPECT_THAT(ring.report.not_read, Not(Contains(Field(&SettingNotInPlan::name, "HOME"))));
  const auto kernel = [&](const std::string& variables) {
    return with_variables(variables).planned.job.kernels.attention;
  };
  EXPECT_EQ(kernel("NVTE_FLASH_ATTN=1 NVTE_FUSED_ATTN=0"), cluster::AttentionKernel::kFlash2);
  EXPECT_EQ(kernel("NVTE_FLASH_ATTN=0 NVTE_FUSED_ATTN=1"), cluster::AttentionKernel::kCudnn);
  EXPECT_EQ(kernel("NVTE_FLASH_ATTN=0 NVTE_FUSED_ATTN=0"), cluster::AttentionKernel::kUnfused);
  EXPECT_FALSE(with_variables("NVTE_FLASH_ATTN=1").planned.job.attention_stated);
  EXPECT_THAT(with_variables("A=1\n[ $FL ] && export NVTE_FUSED_ATTN=0").report.not_read,
              not_read("[ $FL ]", SettingImpact::kMaybe, "NVTE_FUSED_ATTN 0; --set FL=VALUE"));
}

TEST(Started, ArgumentsBehindABackslashThatIsNotTheLastAreNoCommand) {
  EXPECT_THAT(
      [] {
        import_text("", "run.sh",
                    "torchrun --nproc_per_node 8 train.py --model_name_or_path llama \\  # why\n"
                    "  --per_device_train_batch_size 3 --gradient_accumulation_steps 5\n");
      },
      testing::ThrowsMessage<Error>(testing::HasSubstr("must be the last character of the line")));
}

}  // namespace
}  // namespace stepwright::framework_files
