#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stepwright/capture/batch_names.h"
#include "stepwright/capture/job.h"
#include "tests/capture/workplace.h"

namespace stepwright::capture {
namespace {

using ::testing::ElementsAre;

class Schedulers : public Workplace {};

TEST_F(Schedulers, AJobArrayIsSeveralCommands) {
  write("array.sh",
        "#!/bin/bash\n#SBATCH --array=0-4:2%2\ntorchrun t.py --index $SLURM_ARRAY_TASK_ID\n");
  EXPECT_EQ(lines_of(run("sbatch array.sh\n")),
            "torchrun t.py --index 0\ntorchrun t.py --index 2\ntorchrun t.py --index 4\n");
}

TEST_F(Schedulers, AScriptOnStandardInputAndAWrappedOneAreFollowed) {
  const auto captured =
      run("sbatch -N 2 <<'EOF'\n#!/bin/bash\n#SBATCH --gres=gpu:8\nsrun torchrun a.py "
          "$SLURM_NNODES\nEOF\n"
          "sbatch -N 3 --wrap 'srun torchrun b.py $SLURM_NNODES'\n"
          "sbatch --export=ALL,SEED=5 --wrap='torchrun c.py $SEED'\n");
  EXPECT_EQ(lines_of(captured), "srun torchrun a.py 2\nsrun torchrun b.py 3\ntorchrun c.py 5\n");
  EXPECT_EQ(captured.commands[0].devices_per_node, 8);
}

TEST_F(Schedulers, AScriptThatSubmitsItselfIsFollowedOnce) {
  const auto captured =
      run("#!/bin/bash\n#SBATCH -N 2\nsbatch --dependency=afterany:$SLURM_JOB_ID \"$0\"\ntorchrun "
          "t.py\n");
  EXPECT_EQ(lines_of(captured), "torchrun t.py\n");
  EXPECT_TRUE(mentions(captured.not_run, "sbatch --dependency=afterany:"));
}

TEST_F(Schedulers, StatedNodesOverrideTheScript) {
  const auto captured =
      run("#!/bin/bash\n#SBATCH -N 16\ntorchrun t.py $SLURM_NNODES $(nvidia-smi -L | wc -l)\n",
          {.nodes = 4, .devices_per_node = 2});
  EXPECT_EQ(lines_of(captured), "torchrun t.py 4 2\n");
  EXPECT_EQ(captured.commands[0].nodes, 4);
  EXPECT_EQ(captured.commands[0].devices_per_node, 2);
}

TEST_F(Schedulers, AScriptThatReadsSlurmsVariablesHasThemForStatedNodes) {
  EXPECT_EQ(lines_of(run("torchrun t.py --nnodes=$SLURM_NNODES\n", {.nodes = 4})),
            "torchrun t.py --nnodes=4\n");
}

TEST_F(Schedulers, SallocGoesOnWithItsCommand) {
  const auto captured = run("salloc -N 2 --gpus-per-node=4 srun torchrun t.py\n");
  EXPECT_EQ(lines_of(captured), "srun torchrun t.py\n");
  EXPECT_EQ(captured.commands[0].nodes, 2);
}

TEST_F(Schedulers, QsubAndBsubAreFollowed) {
  write("pbs.sh",
        "#!/bin/bash\n#PBS -l select=2:ngpus=4:mpiprocs=4\ncd $PBS_O_WORKDIR\n"
        "mpiexec -n $(wc -l < $PBS_NODEFILE) python a.py\n");
  write("lsf.sh",
        "#!/bin/bash\n#BSUB -n 16\n#BSUB -R \"span[ptile=8]\"\n"
        "mpirun -np $LSB_DJOB_NUMPROC python b.py\n");
  const auto captured =
      run("qsub pbs.sh\nqsub -l select=3:mpiprocs=4 pbs.sh\nbsub < lsf.sh\nbsub -nnodes 4 jsrun -n "
          "4 python c.py\n");
  EXPECT_EQ(lines_of(captured),
            "mpiexec -n 8 python a.py\nmpiexec -n 12 python a.py\nmpirun -np 16 python b.py\n"
            "jsrun -n 4 python c.py\n");
  EXPECT_EQ(captured.commands.at(1).nodes, 3);
  EXPECT_EQ(captured.commands.at(2).nodes, 2);
  EXPECT_EQ(captured.commands.at(3).nodes, 4);
}

TEST_F(Schedulers, ProgramsAnswerForTheStatedNodes) {
  const auto captured =
      run("#!/bin/bash\n#SBATCH -N 2\n#SBATCH --gres=gpu:4\n#SBATCH --cpus-per-task=12\n"
          "G=$(nvidia-smi --query-gpu=index --format=csv,noheader | tail -1)\n"
          "D=$(python3 -c 'import torch; print(torch.cuda.device_count())')\n"
          "M=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n 1)\n"
          "J=$(scontrol show job $SLURM_JOB_ID | grep -oP 'NumNodes=\\K[0-9]+')\n"
          "torchrun t.py $G $D $M $J $(hostname) $(nproc) $(squeue -h -j $SLURM_JOB_ID -o %D)\n");
  EXPECT_EQ(lines_of(captured), "torchrun t.py 3 4 node001 2 node001 12 2\n");
}

TEST_F(Schedulers, ANumberOfDevicesThatNothingSaysIsAskedFor) {
  const auto captured = run("torchrun --nproc_per_node $(nvidia-smi -L | wc -l) t.py\n");
  EXPECT_TRUE(mentions(captured.notes, "--gpus-per-node")) << "unless this machine has devices";
}

TEST_F(Schedulers, AMissingScriptIsRefusedAsBySbatch) {
  const auto captured = run("sbatch missing.sh\n");
  EXPECT_EQ(captured.exit_code, 1);
  EXPECT_TRUE(captured.commands.empty());
}

TEST(Allocations, DevicesAreReadInAllNotations) {
  for (const char* line : {"#SBATCH --gres=gpu:8", "#SBATCH --gres=gpu:a100:8(S:0-1)",
                           "#SBATCH --gpus-per-node=h100:8", "#SBATCH --gres=nvme:1,gpu:8",
                           "#SBATCH -N 2\n#SBATCH --gpus=16", "#SBATCH --gpus-per-node 8",
                           "#SBATCH --ntasks-per-node=4\n#SBATCH --gpus-per-task=2"}) {
    const auto allocation = allocation_from_directives(std::string("#!/bin/bash\n") + line + "\n");
    ASSERT_TRUE(allocation.has_value()) << line;
    EXPECT_EQ(allocation->devices_per_node, 8) << line;
  }
}

TEST(Allocations, LinesBehindTheFirstCommandAreComments) {
  const auto allocation =
      allocation_from_directives("#!/bin/bash\n#SBATCH -N 2 # two\necho\n#SBATCH -N 4\n");
  EXPECT_EQ(allocation->nodes, 2);
  EXPECT_FALSE(allocation_from_directives("echo\n#SBATCH -N 4\n").has_value());
}

TEST(HostLists, BracketsExpand) {
  EXPECT_THAT(expand_slurm_host_list("a[01-03,7],b,c[1-2]x[1-2]"),
              ElementsAre("a01", "a02", "a03", "a7", "b", "c1x1", "c1x2", "c2x1", "c2x2"));
  EXPECT_THAT(expand_slurm_host_list(placeholder_host_list(3)),
              ElementsAre("node001", "node002", "node003"));
  EXPECT_THAT(expand_slurm_host_list("a[1"), ElementsAre("a[1"));
}

TEST(JobArrays, RangesAndStepsExpand) {
  EXPECT_THAT(job_array_task_indices("0-6:3,9%4"), ElementsAre("0", "3", "6", "9"));
  EXPECT_TRUE(job_array_task_indices("").empty());
}

}  // namespace
}  // namespace stepwright::capture
