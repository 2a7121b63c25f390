#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/capture/workplace.h"

namespace stepwright::capture {
namespace {

class Carriers : public Workplace {};

TEST_F(Carriers, ContainersAreFollowed) {
  const auto captured =
      run("docker run --rm -it --gpus all --ipc=host -v /a:/b -e NCCL_DEBUG=INFO -w /nowhere img:1 "
          "bash -c 'cd /nowhere && torchrun a.py'\n"
          "singularity exec --nv -B /a,/b img.sif torchrun b.py\n"
          "apptainer exec --nv --env A=1,B=2 img.sif python c.py\n"
          "srun -N 2 --container-image=x --container-mounts=/a:/b --no-container-mount-home "
          "torchrun d.py\n"
          "docker compose exec -T trainer torchrun e.py\n");
  EXPECT_EQ(
      lines_of(captured),
      "docker run --rm -it --gpus all --ipc=host -v /a:/b -e NCCL_DEBUG=INFO -w /nowhere img:1 "
      "torchrun a.py\n"
      "singularity exec --nv -B /a,/b img.sif torchrun b.py\n"
      "apptainer exec --nv --env A=1,B=2 img.sif python c.py\n"
      "srun -N 2 --container-image=x --container-mounts=/a:/b --no-container-mount-home "
      "torchrun d.py\n"
      "docker compose exec -T trainer torchrun e.py\n");
  EXPECT_EQ(value_in(captured.commands.at(0), "NCCL_DEBUG"), "INFO");
  EXPECT_EQ(value_in(captured.commands.at(2), "B"), "2");
}

TEST_F(Carriers, CommandsForOtherMachinesWriteNothingHere) {
  const auto captured =
      run("touch precious\nssh -o StrictHostKeyChecking=no node7 "
          "'rm -f precious; kill -9 $$; pkill -9 python; cd /nowhere && torchrun a.py'\n"
          "docker exec c1 rm -rf precious\n");
  EXPECT_EQ(lines_of(captured), "ssh -o StrictHostKeyChecking=no node7 torchrun a.py\n");
  EXPECT_TRUE(std::filesystem::exists("precious"));
  EXPECT_TRUE(mentions(captured.not_run, "rm -f precious"));
  EXPECT_TRUE(mentions(captured.not_run, "pkill -9 python"));
}

TEST_F(Carriers, ALoopOverHostsIsOneLaunchOfRankZero) {
  const auto captured =
      run("i=0\nfor host in h1 h2 h3 h4; do\n"
          "  ssh $host \"cd $PWD; torchrun --nnodes 4 --node_rank $i --master_addr h1 t.py\" &\n"
          "  i=$((i + 1))\ndone\nwait\n");
  ASSERT_EQ(captured.commands.size(), 1);
  EXPECT_EQ(line_of(captured.commands[0]),
            "ssh h1 torchrun --nnodes 4 --node_rank 0 --master_addr h1 t.py");
  EXPECT_EQ(captured.commands[0].count, 4);
  EXPECT_EQ(captured.commands[0].hosts, 4);
  EXPECT_EQ(captured.commands[0].nodes, 4);
}

TEST_F(Carriers, ALoopOfStepsIsOneLaunchOnAllNodes) {
  const auto captured =
      run("#!/bin/bash\n#SBATCH -N 3\n#SBATCH --gres=gpu:a100:8\n"
          "nodes=($(scontrol show hostnames))\n"
          "ip=$(srun --nodes=1 --ntasks=1 -w \"${nodes[0]}\" hostname --ip-address)\n"
          "for i in \"${!nodes[@]}\"; do\n  srun -N 1 -n 1 -w \"${nodes[i]}\" torchrun --nnodes 3 "
          "--node_rank $i --master_addr $ip t.py &\ndone\nwait\n");
  ASSERT_EQ(captured.commands.size(), 1);
  EXPECT_EQ(
      line_of(captured.commands[0]),
      "srun -N 1 -n 1 -w node001 torchrun --nnodes 3 --node_rank 0 --master_addr 10.0.0.1 t.py");
  EXPECT_EQ(captured.commands[0].nodes, 3);
  EXPECT_EQ(captured.commands[0].devices_per_node, 8);
}

TEST_F(Carriers, RayOnAllNodesTrainsOnAllNodes) {
  const auto captured =
      run("#!/bin/bash\n#SBATCH --nodes=4\n#SBATCH --gpus-per-node=8\n"
          "srun --nodes=1 --ntasks=1 -w node001 ray start --head --block &\nsleep 10\n"
          "srun --overlap --nodes=1 --ntasks=1 -w node001 python3 -m verl.trainer.main_ppo x=1\n"
          "ray job submit --address=http://127.0.0.1:8265 -- python3 -m openrlhf.cli.train_ppo --a "
          "1\n");
  ASSERT_EQ(captured.commands.size(), 2);
  EXPECT_EQ(captured.commands[0].nodes, 4);
  EXPECT_EQ(
      line_of(captured.commands[1]),
      "ray job submit --address=http://127.0.0.1:8265 -- python3 -m openrlhf.cli.train_ppo --a 1");
  EXPECT_TRUE(mentions(captured.not_run, "ray start --head --block"));
}

TEST_F(Carriers, WrappersForMeasurementsAreFollowed) {
  EXPECT_EQ(lines_of(run("nsys profile -t cuda,nvtx -o out --force-overwrite true torchrun a.py\n"
                         "numactl --cpunodebind=0 --membind=0 torchrun b.py\n"
                         "taskset -c 0-63 torchrun c.py\nsudo -E A=1 torchrun d.py\n"
                         "uv run --no-sync --extra mcore torchrun e.py\n"
                         "conda run -n env --no-capture-output torchrun f.py\n"
                         "jsrun -n 4 -r 1 -a 6 -g 6 -c 42 -d packed python g.py\n"
                         "pdsh -w h[1-4] 'torchrun h.py'\n")),
            "nsys profile -t cuda,nvtx -o out --force-overwrite true torchrun a.py\n"
            "numactl --cpunodebind=0 --membind=0 torchrun b.py\n"
            "taskset -c 0-63 torchrun c.py\nsudo -E A=1 torchrun d.py\n"
            "uv run --no-sync --extra mcore torchrun e.py\n"
            "conda run -n env --no-capture-output torchrun f.py\n"
            "jsrun -n 4 -r 1 -a 6 -g 6 -c 42 -d packed python g.py\n"
            "pdsh -w 'h[1-4]' torchrun h.py\n");
}

TEST_F(Carriers, ABinaryBehindALauncherIsRecordedAndNotRun) {
  write("build/all_reduce_perf", std::string("\x7f") + "ELF");
  const auto captured = run(
      "mpirun -np 16 -x NCCL_DEBUG=INFO --mca btl ^openib -H a,b ./build/all_reduce_perf -b 8\n");
  EXPECT_EQ(
      lines_of(captured),
      "mpirun -np 16 -x NCCL_DEBUG=INFO --mca btl '^openib' -H a,b ./build/all_reduce_perf -b 8\n");
  EXPECT_EQ(value_in(captured.commands.at(0), "NCCL_DEBUG"), "INFO");
}

TEST_F(Carriers, FilesForKubernetesAreNamed) {
  write("job.yaml", "kind: Job\n");
  const auto captured = run("kubectl get pods\nkubectl apply -f job.yaml\ndocker build -t x .\n");
  ASSERT_EQ(captured.commands.size(), 1);
  EXPECT_EQ(captured.commands[0].files.at(0).path, "job.yaml");
  EXPECT_THAT(captured.not_run, ::testing::ElementsAre("kubectl get pods", "docker build -t x ."));
}

TEST_F(Carriers, AHostReadsAScriptFromItsInput) {
  EXPECT_EQ(lines_of(run("ssh node1 <<'EOF'\nexport A=1\ntorchrun a.py\nEOF\n")),
            "ssh node1 torchrun a.py\n");
}

}  // namespace
}  // namespace stepwright::capture
