#include <gtest/gtest.h>

#include "tests/capture/workplace.h"

namespace stepwright::capture {
namespace {

/// Scripts as people publish them, in which a reader that imitated a shell made mistakes.
class FieldScripts : public Workplace {
 protected:
  /// Returns the only captured command, which must be `line`.
  CapturedLaunchCommand only(const ScriptCaptureResult& captured, std::string_view line) {
    EXPECT_EQ(lines_of(captured), std::string(line) + "\n");
    EXPECT_EQ(captured.exit_code, 0);
    return captured.commands.empty() ? CapturedLaunchCommand{} : captured.commands.front();
  }
};

TEST_F(FieldScripts, AnArrayOfHostsHasAsManyAsTheJob) {
  const auto captured =
      run("#!/bin/bash\n#SBATCH --nodes=16\n#SBATCH --gres=gpu:4\n"
          "hosts=($(scontrol show hostnames \"$SLURM_JOB_NODELIST\"))\n"
          "srun torchrun --nnodes \"${#hosts[@]}\" --nproc_per_node 4 pretrain_gpt.py --bf16\n");
  const auto command =
      only(captured, "srun torchrun --nnodes 16 --nproc_per_node 4 pretrain_gpt.py --bf16");
  EXPECT_EQ(command.launcher, Words{"srun"});
  EXPECT_EQ(command.nodes, 16);
  EXPECT_EQ(command.devices_per_node, 4);
}

TEST_F(FieldScripts, MapfileReadsHostNames) {
  const auto captured =
      run("#!/bin/bash\n#SBATCH --nodes=16\n#SBATCH --gres=gpu:4\n"
          "mapfile -t hosts < <(scontrol show hostnames \"$SLURM_JOB_NODELIST\")\n"
          "srun torchrun --nnodes ${#hosts[@]} --nproc_per_node 4 pretrain_gpt.py\n");
  only(captured, "srun torchrun --nnodes 16 --nproc_per_node 4 pretrain_gpt.py");
}

TEST_F(FieldScripts, OptionsOfSbatchOverrideTheScript) {
  write("inner.job.sh",
        "#!/bin/bash\n#SBATCH --nodes=1\n#SBATCH --gpus-per-node=8\n"
        "srun torchrun --nnodes=${SLURM_JOB_NUM_NODES:-1} --nproc-per-node=8 pretrain_gpt.py\n");
  const auto captured =
      run("#!/bin/bash\nN=16\nID=$(sbatch --parsable --nodes=\"${N}\" inner.job.sh)\n"
          "[[ $ID =~ ^[0-9]+$ ]] || exit 3\n");
  const auto command =
      only(captured, "srun torchrun --nnodes=16 --nproc-per-node=8 pretrain_gpt.py");
  EXPECT_EQ(command.nodes, 16);
  EXPECT_EQ(command.devices_per_node, 8);
  EXPECT_EQ(command.scheduler, "slurm");
  EXPECT_EQ(command.batch_options,
            (Words{"--nodes=1", "--gpus-per-node=8", "--parsable", "--nodes=16"}));
}

TEST_F(FieldScripts, AShortOptionOfSbatchOverridesTheScript) {
  write("inner.job.sh",
        "#!/bin/bash\n#SBATCH -N 1\n#SBATCH --gpus-per-node=8\n"
        "srun torchrun --nnodes $SLURM_NNODES --nproc-per-node 8 pretrain_gpt.py\n");
  const auto captured = run("sbatch -N 16 inner.job.sh\n");
  EXPECT_EQ(only(captured, "srun torchrun --nnodes 16 --nproc-per-node 8 pretrain_gpt.py").nodes,
            16);
}

TEST_F(FieldScripts, TasksOfANodeAreCutFromSlurmsNotation) {
  write("inner.run.sh", "python pretrain_gpt.py --tensor-model-parallel-size 4\n");
  const auto captured = run(
      "#!/bin/bash\n#SBATCH --nodes=16\n#SBATCH --gpus-per-node=8\n#SBATCH --ntasks-per-node=8\n"
      "PER=$(echo $SLURM_TASKS_PER_NODE | cut -d '(' -f 1)\n"
      "mpirun -np $((SLURM_JOB_NUM_NODES * PER)) --npernode $PER bash inner.run.sh\n");
  const auto command =
      only(captured,
           "mpirun -np 128 --npernode 8 python pretrain_gpt.py --tensor-model-parallel-size 4");
  EXPECT_EQ(value_in(command, "OMPI_COMM_WORLD_SIZE"), "128");
  EXPECT_EQ(value_in(command, "OMPI_COMM_WORLD_LOCAL_SIZE"), "8");
  EXPECT_EQ(value_in(command, "PMI_RANK"), "0");
}

TEST_F(FieldScripts, MpirunWithoutACountKnowsTheTasksOfTheJob) {
  const auto captured = run(
      "#!/bin/bash\n#SBATCH --nodes=16\n#SBATCH --gpus-per-node=8\n#SBATCH --ntasks-per-node=8\n"
      "mpirun python pretrain_gpt.py\n");
  const auto command = only(captured, "mpirun python pretrain_gpt.py");
  EXPECT_EQ(command.nodes, 16);
  EXPECT_EQ(value_in(command, "SLURM_NTASKS"), "128");
  EXPECT_EQ(value_in(command, "OMPI_COMM_WORLD_SIZE"), "128");
}

TEST_F(FieldScripts, GridEngineSaysHowManyHosts) {
  const auto captured =
      run("#!/bin/bash\n#$ -l rt_F=8\nALL=$((NHOSTS * 4))\n"
          "mpirun -np $ALL -npernode 4 python pretrain_gpt.py\n");
  EXPECT_EQ(only(captured, "mpirun -np 32 -npernode 4 python pretrain_gpt.py").nodes, 8);
}

TEST_F(FieldScripts, LinesOfLsfAreRead) {
  write("11.yml", "train_iters: 10\n");
  const auto captured = run("#!/bin/bash\n#BSUB -nnodes 12\npython deepy.py train.py 11.yml\n");
  const auto command = only(captured, "python deepy.py train.py 11.yml");
  EXPECT_EQ(command.nodes, 12);
  ASSERT_EQ(command.files.size(), 3);
  EXPECT_FALSE(command.files[0].exists);
  EXPECT_EQ(command.files[2].path, "11.yml");
  EXPECT_TRUE(command.files[2].exists);
}

TEST_F(FieldScripts, TheFileOfPbsHasALineForEachNode) {
  const auto captured =
      run("#!/bin/bash\n#PBS -l select=8:ngpus=4\nN=$(sort -u $PBS_NODEFILE | wc -l)\n"
          "mpiexec -n $((N * 4)) --ppn 4 python pretrain_gpt.py\n");
  const auto command = only(captured, "mpiexec -n 32 --ppn 4 python pretrain_gpt.py");
  EXPECT_EQ(command.nodes, 8);
  EXPECT_EQ(command.devices_per_node, 4);
}

TEST_F(FieldScripts, TorchrunNamesItsConfiguration) {
  write("15.toml", "[model]\n");
  const auto captured =
      run("torchrun --nproc_per_node 8 train.py --job.config_file 15.toml --float8.enable\n");
  const auto command = only(
      captured, "torchrun --nproc_per_node 8 train.py --job.config_file 15.toml --float8.enable");
  EXPECT_EQ(command.files.back().path, "15.toml");
  EXPECT_EQ(command.files.back().text, std::nullopt) << "the file is still there";
}

TEST_F(FieldScripts, ModulesOfPythonKeepTheirWords) {
  only(
      run("python3 -m verl.trainer.main_ppo data.train_batch_size=256 trainer.critic_warmup = 0\n"),
      "python3 -m verl.trainer.main_ppo data.train_batch_size=256 trainer.critic_warmup = 0");
  only(run("python3 -m ourlab.verl.trainer.main_ppo trainer.nnodes=1\n"),
       "python3 -m ourlab.verl.trainer.main_ppo trainer.nnodes=1");
}

TEST_F(FieldScripts, VariablesInFrontOfACommandAreRecorded) {
  const auto captured = run(
      "CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7 NPROC_PER_NODE=4 swift sft --model Qwen/Qwen3-8B\n");
  const auto command = only(captured, "swift sft --model Qwen/Qwen3-8B");
  EXPECT_EQ(value_in(command, "CUDA_VISIBLE_DEVICES"), "0,1,2,3,4,5,6,7");
  EXPECT_EQ(value_in(command, "NPROC_PER_NODE"), "4");
}

TEST_F(FieldScripts, AccelerateIsRecorded) {
  only(run("accelerate launch --num_processes 4 train.py --lora_r 16 --output_dir o\n"),
       "accelerate launch --num_processes 4 train.py --lora_r 16 --output_dir o");
}

TEST_F(FieldScripts, ATextForBashBehindSrunIsFollowed) {
  const auto captured =
      run("srun -N 16 --ntasks-per-node 8 bash -c \"python Megatron-Bridge/run_script.py "
          "--config_file llama31.yaml -ng 128\"\n");
  const auto command = only(captured,
                            "srun -N 16 --ntasks-per-node 8 python Megatron-Bridge/run_script.py "
                            "--config_file llama31.yaml -ng 128");
  EXPECT_EQ(command.nodes, 16);
  EXPECT_EQ(value_in(command, "SLURM_NTASKS"), "128");
}

TEST_F(FieldScripts, AScriptEchoedIntoAPodIsFollowed) {
  const auto captured =
      run("JOB=$(cat <<EOF\ncd /opt/no-such-place\nuv run python examples/run_grpo_math.py "
          "--config c.yaml cluster.num_nodes=4\nEOF\n)\n"
          "echo \"$JOB\" | kubectl exec -i head-pod -- /bin/bash\n");
  only(captured,
       "kubectl exec -i head-pod -- uv run python examples/run_grpo_math.py --config c.yaml "
       "cluster.num_nodes=4");
  EXPECT_TRUE(mentions(captured.not_run, "cd /opt/no-such-place"));
}

TEST_F(FieldScripts, ACommandEchoedThroughTeeIntoBashIsFollowed) {
  only(run("CMD=\"torchrun --nproc_per_node 8 pretrain_gpt.py --bf16\"\n"
           "echo \"$CMD\" | tee log.txt | bash\n"),
       "torchrun --nproc_per_node 8 pretrain_gpt.py --bf16");
}

TEST_F(FieldScripts, WhatPythonPrintsBecomesArguments) {
  only(run("weigh() { python3 -c \"print($1 * 2)\"; }\n"
           "DATA=( $(weigh 5) /d/a $(weigh 7) /d/b )\n"
           "torchrun --nproc_per_node 8 pretrain_gpt.py --data-path \"${DATA[@]}\"\n"),
       "torchrun --nproc_per_node 8 pretrain_gpt.py --data-path 10 /d/a 14 /d/b");
}

TEST_F(FieldScripts, AConfigurationThatAFunctionWritesIsThere) {
  write("41.lib.sh",
        "mkjson() {\ncat > $1 <<J\n{\"train_batch_size\": $GBS, \"bf16\": {\"enabled\": "
        "true}}\nJ\n}\n");
  const auto captured =
      run("GBS=64\n. 41.lib.sh\nmkjson ds.json\n"
          "deepspeed --num_gpus 8 pretrain_gpt.py --deepspeed_config ds.json\nrm ds.json\n");
  const auto command =
      only(captured, "deepspeed --num_gpus 8 pretrain_gpt.py --deepspeed_config ds.json");
  ASSERT_EQ(command.files.size(), 2);
  EXPECT_EQ(command.files[1].text, "{\"train_batch_size\": 64, \"bf16\": {\"enabled\": true}}\n")
      << "the script removed the file";
}

TEST_F(FieldScripts, AWrapperIsFollowedIfThereAndRecordedIfNot) {
  const std::string script =
      "srun -N 2 --ntasks-per-node 8 ./bind.sh python pretrain_gpt.py --bf16\n";
  only(run(script), "srun -N 2 --ntasks-per-node 8 ./bind.sh python pretrain_gpt.py --bf16");
  write("bind.sh", "#!/bin/bash\nexport CUDA_VISIBLE_DEVICES=$SLURM_LOCALID\nexec \"$@\"\n");
  const auto command =
      only(run(script), "srun -N 2 --ntasks-per-node 8 python pretrain_gpt.py --bf16");
  EXPECT_EQ(value_in(command, "CUDA_VISIBLE_DEVICES"), "0");
}

TEST_F(FieldScripts, ArgumentsThatACommandPrintsAreRead) {
  write("flags.txt", "--num-layers\n32\n--bf16\n");
  only(run("export MEGATRON=/opt/megatron\nmapfile -t ARGS < <(sed -n p flags.txt)\n"
           "srun -N 2 torchrun --nnodes 2 $MEGATRON/pretrain_gpt.py \"${ARGS[@]}\" --save /c\n"),
       "srun -N 2 torchrun --nnodes 2 /opt/megatron/pretrain_gpt.py --num-layers 32 --bf16 --save "
       "/c");
}

TEST_F(FieldScripts, ATrainerInASecondFileIsFollowed) {
  write("inner.run.sh",
        "python3 tools/prepare.py --config \"$EXP\" --data_path /d\n"
        "CMD=\"torchrun --nproc_per_node 8 primus/cli/main.py train pretrain --config $EXP $*\"\n"
        "eval \"$CMD\"\n");
  const auto captured =
      run("export EXP=45.yaml\nbash inner.run.sh --micro_batch_size 2 --global_batch_size 16\n");
  EXPECT_EQ(lines_of(captured),
            "python3 tools/prepare.py --config 45.yaml --data_path /d\n"
            "torchrun --nproc_per_node 8 primus/cli/main.py train pretrain --config 45.yaml "
            "--micro_batch_size 2 --global_batch_size 16\n");
}

TEST_F(FieldScripts, NiceBehindSrunReallyRuns) {
  only(run("srun -N 2 --ntasks-per-node 8 nice -n 5 python pretrain_gpt.py --bf16\n"),
       "srun -N 2 --ntasks-per-node 8 python pretrain_gpt.py --bf16");
}

TEST_F(FieldScripts, VisibleDevicesOfAJobAreCounted) {
  only(run("#!/bin/bash\n#SBATCH --nodes=16\n#SBATCH --gres=gpu:4\n"
           "IFS=, read -ra cards <<< \"$CUDA_VISIBLE_DEVICES\"\n"
           "srun torchrun --nnodes $SLURM_NNODES --nproc_per_node ${#cards[@]} pretrain_gpt.py\n"),
       "srun torchrun --nnodes 16 --nproc_per_node 4 pretrain_gpt.py");
}

TEST_F(FieldScripts, OtherLaunchersKeepTheirWords) {
  for (const char* line :
       {"torchrun --nproc_per_node 8 -m flame.train --job.config_file 29.toml",
        "torchrun --nnodes 2 --nproc_per_node 8 scripts/performance/run_script.py --gpu h100",
        "torchrun --nproc_per_node 8 run_train.py --config 37.yaml",
        "torchrun --nproc_per_node 8 pretrain_gpt.py --tokenizer-model /tok/ours-100k.model",
        "torchrun --nproc_per_node 2 src/train_bash.py --stage sft --do_train --fp16",
        "swift pt --model Qwen/Qwen3-8B --packing true --deepspeed zero2 --dataset d",
        "swift sft --model_type qwen2-1_5b-instruct --deepspeed default-zero3 --dataset d"}) {
    only(run(std::string(line) + "\n"), line);
  }
}

}  // namespace
}  // namespace stepwright::capture
