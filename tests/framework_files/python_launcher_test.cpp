#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stepwright/core/error.h"
#include "stepwright/launch_scripts/python/launcher.h"
#include "tests/framework_files/imported.h"

namespace stepwright::framework_files {
namespace {

using testing::HasSubstr;

constexpr const char* kLaunchedModel =
    "--num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 4096 "
    "--max-position-embeddings 4096 --micro-batch-size 1 --global-batch-size 64 "
    "--vocab-size 32000 --bf16";

ImportedPlan launched_plan(const std::string& text, std::vector<std::string> settings = {}) {
  Given given;
  given.cluster = "dgx-h100";
  given.settings = std::move(settings);
  return import_text("", "launch.py", text, given);
}

std::string launched_refusal(const std::string& text) {
  try {
    launched_plan(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// A program with the words of the model in MODEL.
std::string launcher_text(const std::string& text) {
  return fmt::format("import os, subprocess, shlex\nMODEL = '{}'\n{}", kLaunchedModel, text);
}

TEST(PythonLauncher, ListsAreJoinedWhereTheirWordsStand) {
  const ImportedPlan plan = launched_plan(launcher_text(R"(
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
)"));
  EXPECT_EQ(plan.target, "megatron");
  EXPECT_EQ(plan.planned.plan.parallel.tensor, 4);
  EXPECT_EQ(plan.planned.plan.parallel.pipeline, 2);
  EXPECT_EQ(plan.planned.plan.recompute.kind, plan::RecomputeKind::kFull);
  const auto at =
      std::ranges::find(plan.report.read, "--tensor-model-parallel-size", &ReadSetting::name);
  ASSERT_NE(at, plan.report.read.end());
  EXPECT_EQ(at->file, "launch.py");
  EXPECT_EQ(at->line, 8U);
}

TEST(PythonLauncher, TextsGoToAShell) {
  for (const char* start :
       {"os.system(f'torchrun --nproc_per_node=8 pretrain_gpt.py --tensor-model-parallel-size {tp} "
        "{MODEL}')",
        "os.system('torchrun pretrain_gpt.py --tensor-model-parallel-size {} {m} | tee "
        "log'.format(tp, m=MODEL))",
        "subprocess.call('cd /w && torchrun pretrain_gpt.py --tensor-model-parallel-size %d %s' % "
        "(tp, MODEL), shell=True)",
        "subprocess.Popen(shlex.split('torchrun pretrain_gpt.py --tensor-model-parallel-size ' + "
        "str(tp) + ' ' + MODEL))",
        "subprocess.check_call(['bash', '-c', ' '.join(['torchrun pretrain_gpt.py', MODEL, "
        "'--tensor-model-parallel-size', str(tp)])])",
        "os.execvp('torchrun', ['torchrun', 'pretrain_gpt.py', '--tensor-model-parallel-size', "
        "str(tp), *MODEL.split()])"}) {
    const ImportedPlan plan = launched_plan(launcher_text(fmt::format("tp = 2\n{}\n", start)));
    EXPECT_EQ(plan.planned.plan.parallel.tensor, 2) << start;
    EXPECT_EQ(plan.planned.plan.parallel.data, 4) << start;
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
        cmd += ["--recompute-granularity", "full", "--recompute-method", "uniform",
                "--recompute-num-layers", "1"]
    if os.environ.get("QUICK"):
        cmd.append("--cross-entropy-loss-fusion")
    subprocess.run(cmd, env=env)

main()
)";

TEST(PythonLauncher, WhatIsOpenIsNamedAndGiven) {
  EXPECT_THAT(launched_refusal(launcher_text(kParsed)),
              testing::AllOf(HasSubstr("launch.py:"), HasSubstr("--set pp=VALUE")));
  const ImportedPlan plan = launched_plan(launcher_text(kParsed), {"pp=2"});
  EXPECT_EQ(plan.planned.plan.parallel.tensor, 2);
  EXPECT_EQ(plan.planned.plan.parallel.pipeline, 2);
  EXPECT_EQ(plan.planned.plan.parallel.context, 2);
  EXPECT_THAT(plan.report.not_read, lists("$QUICK", Matters::kMaybe));
  const ImportedPlan other =
      launched_plan(launcher_text(kParsed), {"pp=1", "CP=1", "full=True", "tensor_size=8"});
  EXPECT_EQ(other.planned.plan.parallel.tensor, 8);
  EXPECT_EQ(other.planned.plan.parallel.context, 1);
  EXPECT_EQ(other.planned.plan.recompute.kind, plan::RecomputeKind::kFull);
}

TEST(PythonLauncher, ArgumentsWithoutADefaultAreOpen) {
  const std::string text = launcher_text(R"(
import argparse
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size")
    args = parser.parse_args()
    if not args.size:
        return 1
    degree = pick(args)
    subprocess.run(["torchrun", "pretrain_gpt.py", "--tensor-model-parallel-size", args.size,
                    "--pipeline-model-parallel-size", str(degree), *MODEL.split()])
main()
)");
  EXPECT_THAT(launched_refusal(text), HasSubstr("--set size=VALUE"));
  const ImportedPlan plan = launched_plan(text, {"size=2", "degree=4"});
  EXPECT_EQ(plan.planned.plan.parallel.tensor, 2);
  EXPECT_EQ(plan.planned.plan.parallel.pipeline, 4);
}

TEST(PythonLauncher, SeveralCommandsAreAskedFor) {
  const std::string text = launcher_text(R"(
for tp in (1, 2):
    subprocess.run(f"torchrun pretrain_gpt.py --tensor-model-parallel-size {tp} {MODEL}", shell=True)
)");
  EXPECT_THAT(launched_refusal(text),
              testing::AllOf(HasSubstr("2 jobs"), HasSubstr("--command N")));
  Given given;
  given.cluster = "dgx-h100";
  given.command = 2;
  EXPECT_EQ(import_text("", "launch.py", text, given).planned.plan.parallel.tensor, 2);
}

TEST(PythonLauncher, SlimeStartsItsTraining) {
  const std::string text = R"(
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
    rest = (
        "--num-layers 32 --hidden-size 4096 --num-attention-heads 32 --ffn-hidden-size 11008 "
        "--swiglu --max-position-embeddings 4096 --vocab-size 32000 --bf16 --actor-num-gpus-per-node 8 "
        f"--actor-num-nodes {args.num_nodes} --global-batch-size 256 --micro-batch-size 1 "
    )
    U.execute_train(train_args=f"{perf} {rest}", num_gpus_per_node=8, megatron_model_type=None)

@app.command()
def train(args: ScriptArgs):
    execute(args)

if __name__ == "__main__":
    app()
)";
  Given given;
  given.cluster = "dgx-h100";
  given.batch = "256x4096";
  const ImportedPlan plan = import_text("", "run.py", text, given);
  EXPECT_EQ(plan.planned.plan.parallel.tensor, 2);
  EXPECT_EQ(plan.planned.job.cluster.nodes, 1);
}

TEST(PythonLauncher, ComprehensionsNest) {
  const ImportedPlan plan = launched_plan(launcher_text(R"(
SIZES = {"tensor": 2, "pipeline": 2}
words = [word for name, size in SIZES.items() if size > 1
         for word in (f"--{name}-model-parallel-size", str(size))]
names = {name: 2 ** size for name in ("context",) for size in [1]}
subprocess.run(["torchrun", "pretrain_gpt.py", *MODEL.split(), *words, "--context-parallel-size",
                str(names["context"]) if names else fail()])
)"));
  EXPECT_EQ(plan.planned.plan.parallel.tensor, 2);
  EXPECT_EQ(plan.planned.plan.parallel.pipeline, 2);
  EXPECT_EQ(plan.planned.plan.parallel.context, 2);
}

TEST(PythonLauncher, ImportsComeFromTheOtherFiles) {
  const std::vector<launch_scripts::SourceFile> files = {
      {"run/launch.py",
       launcher_text("from .sizes import TP as size, words\nimport run.more as m\n"
                     "import torch\n"
                     "subprocess.run(['torchrun', 'pretrain_gpt.py', *MODEL.split()"
                     ", *words(size), *m.MORE, *torch.words()])\n")},
      {"run/sizes.py",
       "TP = 2\ndef words(n):\n    return ['--tensor-model-parallel-size', str(n)]\n"},
      {"run/more.py", "from .sizes import TP\nMORE = ['--context-parallel-size', f'{TP}']\n"},
      {"run/broken.py", "words = (\n"}};
  const ImportedPlan plan =
      import_sources("megatron", std::span(files).first(1), {.cluster = "dgx-h100"});
  EXPECT_EQ(plan.planned.plan.parallel.tensor, 1) << "nobody knows";
  const auto script = launch_scripts::launched_script(files.front(), {}, files);
  ASSERT_TRUE(script);
  EXPECT_THAT(script->text, testing::AllOf(HasSubstr(" --tensor-model-parallel-size 2 "),
                                           HasSubstr(" --context-parallel-size 2 ${words}")));
}

TEST(PythonLauncher, FunctionsOnlyDoWhatIsAskedOfThem) {
  const ImportedPlan plan = launched_plan(launcher_text(R"(
def start(tp, left=3):
    again = start(tp, left - 1) if left > 0 else None
    return again or ["--tensor-model-parallel-size", str(tp)]
class Sizes:
    parts: Sizes = Sizes()
debug = False
debug and subprocess.run("torchrun pretrain_gpt.py " + MODEL)
subprocess.run(f"torchrun pretrain_gpt.py {MODEL} {' '.join(start(2))}")
)"));
  EXPECT_EQ(plan.planned.plan.parallel.tensor, 2);
}

TEST(PythonLauncher, OtherFilesStayWhatTheyAre) {
  const launch_scripts::SourceFile quiet{"model.py", "import torch\nx = torch.zeros(1)\n"};
  EXPECT_FALSE(launch_scripts::launched_script(quiet, {}).has_value());
  const launch_scripts::SourceFile nothing{"run.py",
                                           "import subprocess\nsubprocess.run(words())\n"};
  EXPECT_FALSE(launch_scripts::launched_script(nothing, {}).has_value());
  EXPECT_THAT(launched_refusal("import subprocess\nsubprocess.run(words())\n"),
              HasSubstr("no literals"));
}

TEST(PythonLauncher, HostileTextsEnd) {
  const std::string open = "import subprocess\n";
  const std::string deep = open + "x = " + std::string(5000, '[') + std::string(5000, ']') + "\n";
  EXPECT_THAT(launched_refusal(deep), HasSubstr("nest deeper"));
  std::string blocks = open;
  for (int i = 0; i < 200; ++i) blocks += std::string(static_cast<std::size_t>(i), ' ') + "if 1:\n";
  EXPECT_THAT(launched_refusal(blocks + std::string(200, ' ') + "x = 1\n"),
              HasSubstr("nest deeper"));
  const char* kLong[] = {
      "x = 'aaaaaaaa'\nfor i in range(100):\n    x = x + x\n",
      "x = ['a']\nfor i in range(1000):\n    x = x + x\n    x.append(x)\n    x[0] = x\n",
      "for i in range(999):\n  for j in range(999):\n    for k in range(999):\n      x = i\n",
      "def f():\n    f()\n    f()\nf()\n",
      "x = []\nfor i in range(999):\n  for j in range(999):\n    x = [x]\n",
      "x = 1\n%s"};
  for (const char* text : kLong) EXPECT_NE(launched_refusal(open + text), "") << text;
  for (const char* text : {"x = {a: b for}\n", "f'{'\n", "x = 'a' % (\n", "def :\n", "class\n",
                           "if\n", "for in :\n  x\n", "x[\n", "a = b = = c\n", "return\n", "*\n",
                           "x = f'{{{x!r:>{w}}}}'\n", "lambda: (\n", "x = 1 if else 2\n"}) {
    EXPECT_NE(launched_refusal(open + text), "") << text;
  }
}

}  // namespace
}  // namespace stepwright::framework_files
