#include <gtest/gtest.h>

#include <chrono>

#include "stepwright/core/quoting.h"
#include "tests/capture/workplace.h"

namespace stepwright::capture {
namespace {

constexpr const char* kModel =
    "--num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 4096 "
    "--max-position-embeddings 4096 --micro-batch-size 1 --global-batch-size 64 "
    "--vocab-size 32000 --bf16";

/// Python programs that start commands.
class PythonPrograms : public Workplace {
 protected:
  /// Captures a program in which MODEL stands for the arguments of the model.
  ScriptCaptureResult start(const std::string& text, Words arguments = {},
                            ScriptCaptureRequest request = {}) {
    write("launch.py",
          "import os, subprocess, shlex\nMODEL = '" + std::string(kModel) + "'\n" + text);
    request.command.insert(request.command.end(), {"python3", "launch.py"});
    request.command.insert(request.command.end(), arguments.begin(), arguments.end());
    return capture_launch_script(request);
  }
};

std::string model_line(const std::string& before, const std::string& behind = "") {
  return before + " " + kModel + behind + "\n";
}

TEST_F(PythonPrograms, ListsAreJoined) {
  const auto captured = start(R"(
TP = 4
def words(recompute):
    cmd = ["torchrun", f"--nproc_per_node={2 * TP}", "pretrain_gpt.py"]
    cmd += ["--tensor-model-parallel-size",
            str(TP)]
    cmd.extend(MODEL.split())
    for name, value in {"pipeline-model-parallel-size": 2}.items():
        cmd.append(f"--{name}")
        cmd.append(f"{value}")
    if recompute:
        cmd += ["--recompute-granularity", "full", "--recompute-method", "uniform",
                "--recompute-num-layers", "1"]
    return cmd

if __name__ == "__main__":
    subprocess.run(words(recompute=True), check=True)
)");
  EXPECT_EQ(lines_of(captured),
            model_line("torchrun --nproc_per_node=8 pretrain_gpt.py --tensor-model-parallel-size 4",
                       " --pipeline-model-parallel-size 2 --recompute-granularity full "
                       "--recompute-method uniform --recompute-num-layers 1"));
  EXPECT_EQ(captured.exit_code, 0);
}

TEST_F(PythonPrograms, TextsGoToAShell) {
  for (const char* call :
       {"os.system(f'torchrun pretrain_gpt.py --tensor-model-parallel-size {tp} {MODEL}')",
        "os.system('torchrun pretrain_gpt.py --tensor-model-parallel-size {} {m} | tee "
        "log'.format(tp, m=MODEL))",
        "subprocess.call('cd . && torchrun pretrain_gpt.py --tensor-model-parallel-size %d %s' % "
        "(tp, MODEL), shell=True)",
        "subprocess.Popen(shlex.split('torchrun pretrain_gpt.py --tensor-model-parallel-size ' + "
        "str(tp) + ' ' + MODEL)).wait()",
        "subprocess.check_call(['bash', '-c', ' '.join(['torchrun pretrain_gpt.py', "
        "'--tensor-model-parallel-size', str(tp), MODEL])])",
        "os.execvp('torchrun', ['torchrun', 'pretrain_gpt.py', '--tensor-model-parallel-size', "
        "str(tp), *MODEL.split()])"}) {
    EXPECT_EQ(lines_of(start("tp = 2\n" + std::string(call) + "\n")),
              model_line("torchrun pretrain_gpt.py --tensor-model-parallel-size 2"))
        << call;
  }
}

constexpr const char* kParsed = R"(
import argparse
def main():
    parser = argparse.ArgumentParser()
    group = parser.add_argument_group("sizes")
    group.add_argument("--tensor-size", "-t", type=int, default=2)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--pp", type=int, required=True)
    args = parser.parse_args()
    env = os.environ.copy()
    env["NVTE_FLASH_ATTN"] = "0"
    more = ["--context-parallel-size", os.environ.get("CP", "2")]
    cmd = ["torchrun", "pretrain_gpt.py", "--tensor-model-parallel-size", str(args.tensor_size),
           "--pipeline-model-parallel-size", f"{args.pp}"] + MODEL.split() + more
    if args.full:
        cmd += ["--recompute-granularity", "full"]
    if os.environ.get("QUICK"):
        cmd.append("--cross-entropy-loss-fusion")
    subprocess.run(cmd, env=env)

main()
)";

TEST_F(PythonPrograms, ArgumentsAndVariablesAreGivenToTheProgram) {
  const auto captured = start(kParsed, {"--pp", "2"});
  EXPECT_EQ(lines_of(captured),
            model_line("torchrun pretrain_gpt.py --tensor-model-parallel-size 2 "
                       "--pipeline-model-parallel-size 2",
                       " --context-parallel-size 2"));
  ASSERT_EQ(captured.commands.size(), 1U);
  EXPECT_EQ(value_in(captured.commands.front(), "NVTE_FLASH_ATTN"), "0");
  ScriptCaptureRequest request;
  request.command = {"env", "CP=1", "QUICK=1"};
  EXPECT_EQ(lines_of(start(kParsed, {"--pp", "1", "--full", "-t", "8"}, request)),
            model_line("torchrun pretrain_gpt.py --tensor-model-parallel-size 8 "
                       "--pipeline-model-parallel-size 1",
                       " --context-parallel-size 1 --recompute-granularity full "
                       "--cross-entropy-loss-fusion"));
}

TEST_F(PythonPrograms, AnArgumentThatIsMissingEndsTheProgram) {
  EXPECT_EQ(start(kParsed).exit_code, 2);
  const char* text = R"(
import argparse
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size")
    args = parser.parse_args()
    if not args.size:
        return 1
    degree = pick(args)
    subprocess.run(["torchrun", "pretrain_gpt.py", "--tensor-model-parallel-size", args.size,
                    "--pipeline-model-parallel-size", str(degree)])
def pick(args):
    return 2 * int(args.size)
main()
)";
  EXPECT_EQ(lines_of(start(text)), "");
  EXPECT_EQ(lines_of(start(text, {"--size", "2"})),
            "torchrun pretrain_gpt.py --tensor-model-parallel-size 2 "
            "--pipeline-model-parallel-size 4\n");
}

TEST_F(PythonPrograms, SeveralCommandsAreAllWrittenDown) {
  const auto captured = start(R"(
for tp in (1, 2):
    subprocess.run(f"torchrun pretrain_gpt.py --tensor-model-parallel-size {tp}", shell=True)
)");
  EXPECT_EQ(lines_of(captured),
            "torchrun pretrain_gpt.py --tensor-model-parallel-size 1\n"
            "torchrun pretrain_gpt.py --tensor-model-parallel-size 2\n");
}

/// Behaves like slime's public helper: restarts Ray, asks for NVLink, and submits the training.
constexpr const char* kSlimeHelper = R"(
import json, os, subprocess
from dataclasses import dataclass

@dataclass
class ExecuteTrainConfig:
    num_nodes: int = int(os.environ.get("SLURM_JOB_NUM_NODES", "1"))

def exec_command(text, capture_output=False):
    return subprocess.run(["bash", "-c", text], check=True, text=True,
                          capture_output=capture_output).stdout

def execute_train(train_args, num_gpus_per_node, megatron_model_type, train_script="train.py",
                  extra_env_vars=None):
    exec_command("ray stop --force; true; ")
    exec_command(f"ray start --head --num-gpus {num_gpus_per_node} --disable-usage-stats")
    links = exec_command("nvidia-smi topo -m 2>/dev/null | grep -o 'NV[0-9]' | wc -l", True)
    variables = {"CUDA_DEVICE_MAX_CONNECTIONS": "1", "NCCL_NVLS_ENABLE": str(int(int(links) > 0))}
    text = json.dumps({"env_vars": {**variables, **(extra_env_vars or {})}})
    typed = megatron_model_type is not None
    source = f'source "scripts/models/{megatron_model_type}.sh" && ' if typed else ""
    model = "${MODEL_ARGS[@]}" if typed else ""
    exec_command(
        f"export PYTHONBUFFERED=16 && {source}ray job submit --address=http://127.0.0.1:8265 "
        f"--runtime-env-json='{text}' -- python3 {train_script} {model} {train_args}")
)";

constexpr const char* kSlimeRun = R"(
from dataclasses import dataclass
import slime.utils.external_utils.command_utils as U

@dataclass
class ScriptArgs(U.ExecuteTrainConfig):
    size: str = "large"
    tp: int = 1
    def __post_init__(self):
        if self.size == "large":
            self.tp = 2

def execute(args: ScriptArgs):
    perf = "--tensor-model-parallel-size " f"{args.tp} --sequence-parallel "
    rest = f"--bf16 --actor-num-nodes {args.num_nodes} --global-batch-size 256 "
    U.execute_train(train_args=f"{perf} {rest}", num_gpus_per_node=8, megatron_model_type=MODEL,
                    extra_env_vars={"A": "1"})

if __name__ == "__main__":
    execute(ScriptArgs())
)";

TEST_F(PythonPrograms, SlimeStartsItsTraining) {
  write("slime/utils/external_utils/command_utils.py", kSlimeHelper);
  write("scripts/models/small.sh", "MODEL_ARGS=(--num-layers 32 --hidden-size 4096)\n");
  ScriptCaptureRequest request;
  request.only_launchers = true;
  request.command = {"python3", "run.py"};
  write("run.py", "MODEL = None\n" + std::string(kSlimeRun));
  const auto captured = capture_launch_script(request);
  ASSERT_EQ(captured.commands.size(), 1U);
  EXPECT_EQ(quoted_for_shell(captured.commands.front().argv),
            "python3 train.py --tensor-model-parallel-size 2 --sequence-parallel --bf16 "
            "--actor-num-nodes 1 --global-batch-size 256");
  EXPECT_TRUE(
      mentions(captured.commands.front().launcher, R"("CUDA_DEVICE_MAX_CONNECTIONS": "1")"));
  EXPECT_TRUE(mentions(captured.commands.front().launcher, R"("A": "1")"));
  EXPECT_TRUE(mentions(captured.not_run, "ray start --head --num-gpus 8"));
  write("run.py", "MODEL = 'small'\n" + std::string(kSlimeRun));
  const auto typed = capture_launch_script(request);
  ASSERT_EQ(typed.commands.size(), 1U);
  EXPECT_EQ(quoted_for_shell(typed.commands.front().argv),
            "python3 train.py --num-layers 32 --hidden-size 4096 --tensor-model-parallel-size 2 "
            "--sequence-parallel --bf16 --actor-num-nodes 1 --global-batch-size 256");
}

TEST_F(PythonPrograms, ComprehensionsNest) {
  const auto captured = start(R"(
SIZES = {"tensor": 2, "pipeline": 2}
words = [word for name, size in SIZES.items() if size > 1
         for word in (f"--{name}-model-parallel-size", str(size))]
names = {name: 2 ** size for name in ("context",) for size in [1]}
subprocess.run(["torchrun", "pretrain_gpt.py", *MODEL.split(), *words, "--context-parallel-size",
                str(names["context"]) if names else fail()])
)");
  EXPECT_EQ(lines_of(captured),
            model_line("torchrun pretrain_gpt.py",
                       " --tensor-model-parallel-size 2 --pipeline-model-parallel-size 2 "
                       "--context-parallel-size 2"));
}

TEST_F(PythonPrograms, ImportsComeFromTheFilesBesideIt) {
  write("run/sizes.py",
        "TP = 2\ndef words(n):\n    return ['--tensor-model-parallel-size', str(n)]\n");
  write("run/more.py", "from sizes import TP\nMORE = ['--context-parallel-size', f'{TP}']\n");
  write("run/broken.py", "words = (\n");
  const std::string text =
      "import subprocess\nfrom sizes import TP as size, words\nimport more as m\n"
      "subprocess.run(['torchrun', 'pretrain_gpt.py', *words(size), *m.MORE])\n";
  write("run/launch.py", text);
  write("run/trains.py", "import torch\n" + text);
  EXPECT_EQ(lines_of(run("python3 run/launch.py\npython3 run/trains.py\n")),
            "torchrun pretrain_gpt.py --tensor-model-parallel-size 2 --context-parallel-size 2\n"
            "python3 run/trains.py\n");
}

TEST_F(PythonPrograms, FunctionsOnlyDoWhatIsAskedOfThem) {
  const auto captured = start(R"(
def begin(tp, left=3):
    again = begin(tp, left - 1) if left > 0 else None
    return again or ["--tensor-model-parallel-size", str(tp)]
def never():
    subprocess.run("torchrun other.py", shell=True)
debug = False
debug and subprocess.run("torchrun pretrain_gpt.py " + MODEL, shell=True)
subprocess.run(f"torchrun pretrain_gpt.py {MODEL} {' '.join(begin(2))}", shell=True)
)");
  EXPECT_EQ(lines_of(captured),
            model_line("torchrun pretrain_gpt.py", " --tensor-model-parallel-size 2"));
}

TEST_F(PythonPrograms, OtherFilesStayWhatTheyAre) {
  write("model.py", "import math\nx = math.pi\n");
  EXPECT_EQ(lines_of(run("python3 model.py\n")), "python3 model.py\n");
  const auto captured = start("subprocess.run(words())\n");
  EXPECT_EQ(lines_of(captured), "");
  EXPECT_EQ(captured.exit_code, 1);
}

TEST_F(PythonPrograms, HostileTextsEnd) {
  for (const std::string& text :
       {"x = " + std::string(5000, '[') + std::string(5000, ']') + "\n", std::string("x = (\n"),
        std::string("def f():\n    f()\n    f()\nf()\n"), std::string("x = {a: b for}\n")}) {
    const auto captured = start(text);
    EXPECT_EQ(lines_of(captured), "");
    EXPECT_EQ(captured.exit_code, 1);
  }
  ScriptCaptureRequest request;
  request.timeout = std::chrono::milliseconds(500);
  EXPECT_EQ(start("while True:\n    pass\n", {}, request).exit_code, 124);
}

}  // namespace
}  // namespace stepwright::capture
