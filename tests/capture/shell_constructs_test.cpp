#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/capture/workplace.h"

namespace stepwright::capture {
namespace {

using ::testing::ElementsAre;

/// A virtual environment whose launchers leave a mark when they run.
class ShellConstructs : public Workplace {
 protected:
  void SetUp() override {
    Workplace::SetUp();
    for (const char* name : {"torchrun", "python", "deepspeed", "accelerate", "srun"}) {
      write(std::string("venv/bin/") + name, "#!/bin/sh\ntouch '" + mark().string() + "'\n");
    }
    write("venv/bin/activate",
          "VIRTUAL_ENV=$PWD/venv\nPATH=\"$VIRTUAL_ENV/bin:$PATH\"\nexport PATH\n");
  }
  void TearDown() override {
    EXPECT_FALSE(std::filesystem::exists(mark())) << "a launcher really ran";
    Workplace::TearDown();
  }
  [[nodiscard]] std::filesystem::path mark() const { return path() / "it_ran"; }
};

TEST_F(ShellConstructs, AnActivatedEnvironmentDoesNotHideStandIns) {
  EXPECT_EQ(lines_of(run("source venv/bin/activate\ntorchrun a.py\nbash -c 'torchrun b.py'\n"
                         "(torchrun c.py)\nf() { torchrun d.py; }; f\nX=$(torchrun e.py)\n")),
            "torchrun a.py\ntorchrun b.py\ntorchrun c.py\ntorchrun d.py\ntorchrun e.py\n");
}

TEST_F(ShellConstructs, AFolderPutInFrontOfPathDoesNotHideStandIns) {
  EXPECT_EQ(lines_of(run("set -euo pipefail\nexport PATH=$PWD/venv/bin:$PATH\n"
                         "torchrun a.py 2>&1 | tee log\nPATH=$PWD/venv/bin:$PATH torchrun b.py\n"
                         "env PATH=$PWD/venv/bin:$PATH torchrun c.py\n")),
            "torchrun a.py\ntorchrun b.py\ntorchrun c.py\n");
}

TEST_F(ShellConstructs, ALauncherGivenByItsPathIsRecorded) {
  const auto captured = run(
      "V=$PWD/venv\n$V/bin/torchrun \"a b.py\" > log 2>&1\nvenv/bin/python train.py\n"
      "X=$(echo 1) \"$V\"/bin/deepspeed c.py | cat\n./venv/bin/accelerate launch d.py &\nwait\n"
      "nohup $V/bin/torchrun e.py\ntimeout 60 $V/bin/torchrun f.py\ncommand $V/bin/torchrun g.py\n"
      "exec $V/bin/torchrun h.py > log\n");
  const std::string bin = (path() / "venv/bin/").string();
  EXPECT_EQ(lines_of(captured), bin + "torchrun 'a b.py'\nvenv/bin/python train.py\n" + bin +
                                    "deepspeed c.py\n./venv/bin/accelerate launch d.py\n" + bin +
                                    "torchrun e.py\n" + bin + "torchrun f.py\n" + bin +
                                    "torchrun g.py\n" + bin + "torchrun h.py\n");
}

TEST_F(ShellConstructs, AProgramOfPythonRunByItselfIsRecorded) {
  write("train.py", "#!/usr/bin/env python3\nraise SystemExit(1)\n");
  EXPECT_EQ(lines_of(run("./train.py --size 1\n")), "python ./train.py --size 1\n");
}

TEST_F(ShellConstructs, EnvNohupTimeAndTimeoutReallyRun) {
  EXPECT_EQ(lines_of(run("env X=1 torchrun a.py\nnohup torchrun b.py\ntime torchrun c.py\n"
                         "timeout 60 torchrun d.py\nnice torchrun e.py\nnice -n 1 torchrun f.py\n"
                         "env -i A=1 bash -c 'torchrun g.py'\nsetsid -w torchrun h.py\n"
                         "echo i.py | xargs torchrun\n")),
            "torchrun a.py\ntorchrun b.py\ntorchrun c.py\ntorchrun d.py\ntorchrun e.py\n"
            "torchrun f.py\ntorchrun g.py\ntorchrun h.py\ntorchrun i.py\n");
}

TEST_F(ShellConstructs, ExecIsRecorded) {
  EXPECT_EQ(lines_of(run("exec torchrun a.py\n")), "torchrun a.py\n");
  EXPECT_EQ(lines_of(run("exec env X=1 torchrun a.py\n")), "torchrun a.py\n");
}

TEST_F(ShellConstructs, ACommandInTheBackgroundIsSeenAfterTheScript) {
  EXPECT_EQ(lines_of(run("nohup bash -c 'sleep 30; torchrun a.py' > log 2>&1 &\n")),
            "torchrun a.py\n");
}

TEST_F(ShellConstructs, CommandsInTheBackgroundAreWaitedFor) {
  const auto captured = run("torchrun a.py & P=$!\ntrap 'echo end' EXIT\nwait $P || exit 4\n");
  EXPECT_EQ(lines_of(captured), "torchrun a.py\n");
  EXPECT_EQ(captured.exit_code, 0);
}

TEST_F(ShellConstructs, ShReadsScriptsToo) {
  write("inner.sh", "#!/bin/sh\nset -eu\nN=4\ntorchrun --nnodes $N \"$@\"\n");
  EXPECT_EQ(lines_of(run("sh inner.sh a.py\n./inner.sh b.py\nsh -c 'torchrun c.py'\n")),
            "torchrun --nnodes 4 a.py\ntorchrun --nnodes 4 b.py\ntorchrun c.py\n");
}

TEST_F(ShellConstructs, ShActivatesAnEnvironmentToo) {
  write("inner.sh", "#!/bin/sh\n. venv/bin/activate\ntorchrun \"$@\"\n");
  EXPECT_EQ(lines_of(run("sh inner.sh a.py\n./inner.sh b.py\nsrun ./inner.sh c.py\n"
                         "sh -ec '. venv/bin/activate; torchrun d.py'\n")),
            "torchrun a.py\ntorchrun b.py\nsrun torchrun c.py\ntorchrun d.py\n");
  EXPECT_EQ(lines_of(capture_launch_script({.command = {"./inner.sh", "e.py"}})),
            "torchrun e.py\n");
}

TEST_F(ShellConstructs, TheLastWordOfTheCommandBeforeSurvives) {
  EXPECT_EQ(lines_of(run("mkdir -p new/folder && cd $_\nV=venv/bin\nls -d / > /dev/null\n"
                         "torchrun $(basename $PWD) $V\n: a b/c\ntorchrun $_\n")),
            "torchrun folder venv/bin\ntorchrun b/c\n");
}

TEST_F(ShellConstructs, ProgramsThatStartLaunchersAreFollowed) {
  EXPECT_EQ(
      lines_of(run("/usr/bin/env torchrun a.py\nfind . -maxdepth 0 -exec torchrun b.py \\;\n"
                   "python3 -c 'import subprocess; subprocess.run([\"torchrun\", \"c.py\"])'\n"
                   "coproc torchrun d.py\nwait\nbash <(echo torchrun e.py)\n"
                   "if ! torchrun f.py; then exit 1; fi\n"
                   "until torchrun g.py; do sleep 60; done\n")),
      "torchrun a.py\ntorchrun b.py\ntorchrun c.py\ntorchrun d.py\ntorchrun e.py\n"
      "torchrun f.py\ntorchrun g.py\n");
}

TEST_F(ShellConstructs, TracesAndStrictModeDoNotDisturb) {
  EXPECT_EQ(
      lines_of(run("#!/bin/bash\nset -euxo pipefail\nIFS=,\nL=a,b\nset -f\n"
                   "exec > >(tee log) 2>&1\nfor x in $L; do torchrun $x.py \"$x/$L\"; done\n")),
      "torchrun a.py a/a,b\ntorchrun b.py b/a,b\n");
}

TEST_F(ShellConstructs, ArraysLoopsAndEvalExpand) {
  EXPECT_EQ(
      lines_of(run("set -u\nARGS=(--a '1 2' --b)\nARGS+=(\"--c=$((3 * 4))\")\n"
                   "for s in 1 2; do torchrun t.py \"${ARGS[@]}\" --seed $s; done\n"
                   "eval 'torchrun u.py $(( 2 + 2 ))'\n")),
      "torchrun t.py --a '1 2' --b --c=12 --seed 1\ntorchrun t.py --a '1 2' --b --c=12 --seed 2\n"
      "torchrun u.py 4\n");
}

TEST_F(ShellConstructs, MatchesOfRegularExpressionsSurvive) {
  EXPECT_EQ(lines_of(run("[[ llama-70b =~ ([0-9]+)b ]]\nSIZE=\"${BASH_REMATCH[1]}\"\n"
                         "ls /nowhere 2>/dev/null\nCODE=$?\n(exit 3) | cat\nC=${PIPESTATUS[0]}\n"
                         "torchrun t.py $SIZE $((CODE > 0)) $C\n")),
            "torchrun t.py 70 1 3\n");
}

TEST_F(ShellConstructs, WordsWithLinesAndQuotesAreKept) {
  const auto captured = run("torchrun t.py $'two\\nlines' \"it's \\\"so\\\"\" '' '*' $'\\xff'\n");
  ASSERT_EQ(captured.commands.size(), 1);
  EXPECT_THAT(captured.commands[0].argv, ElementsAre("torchrun", "t.py", "two\nlines",
                                                     "it's \"so\"", "", "*", "\xEF\xBF\xBD"));
  EXPECT_TRUE(mentions(captured.notes, "not UTF-8"));
}

TEST_F(ShellConstructs, TenThousandWordsAreKept) {
  const auto captured = run("torchrun t.py $(seq 10000)\n");
  ASSERT_EQ(captured.commands.size(), 1);
  EXPECT_EQ(captured.commands[0].argv.size(), 10'002);
}

TEST_F(ShellConstructs, FoldersWithBlanksAreKept) {
  write("a folder/c.yaml", "x: 1\n");
  const auto captured = run("cd 'a folder'\ntorchrun t.py c.yaml --config=none.yaml @c.yaml\n");
  ASSERT_EQ(captured.commands.size(), 1);
  EXPECT_TRUE(captured.commands[0].folder.ends_with("/a folder"));
  ASSERT_EQ(captured.commands[0].files.size(), 3);
  EXPECT_TRUE(captured.commands[0].files[1].exists);
  EXPECT_FALSE(captured.commands[0].files[2].exists);
}

TEST_F(ShellConstructs, AFileWrittenAnewForEachRunKeepsEachText) {
  const auto captured =
      run("for s in 1 2; do echo \"seed: $s\" > c.yaml; torchrun t.py c.yaml; done\n");
  ASSERT_EQ(captured.commands.size(), 2);
  EXPECT_EQ(captured.commands[0].files[1].text, "seed: 1\n");
  EXPECT_EQ(captured.commands[1].files[1].text, std::nullopt);
}

TEST_F(ShellConstructs, PythonRunsTextsAndInputButNoFiles) {
  EXPECT_EQ(lines_of(run("A=$(python3 -c 'print(6 * 7)')\nB=$(python3 - <<EOF\nprint(8)\nEOF\n)\n"
                         "C=$(echo '{\"a\": 5}' | python3 -m json.tool | grep -c a)\n"
                         "python3 -u train.py $A $B $C\n")),
            "python3 -u train.py 42 8 1\n");
}

TEST_F(ShellConstructs, AMissingEnvironmentIsPassedOver) {
  const auto captured =
      run("set -e\nmodule load cuda/12\nsource /opt/none/bin/activate\n. /opt/none/etc/conda.sh\n"
          "torchrun t.py\n");
  EXPECT_EQ(lines_of(captured), "torchrun t.py\n");
  EXPECT_TRUE(mentions(captured.not_run, "module load cuda/12"));
  EXPECT_TRUE(mentions(captured.not_run, "source /opt/none/bin/activate"));
}

TEST_F(ShellConstructs, ScriptsOnStandardInputAreFollowed) {
  EXPECT_EQ(lines_of(run("bash -s x <<'EOF'\ntorchrun t.py $1\nEOF\nbash <<< 'torchrun u.py'\n"
                         "cat <<EOF | bash\ntorchrun v.py\nEOF\n")),
            "torchrun t.py x\ntorchrun u.py\ntorchrun v.py\n");
}

TEST_F(ShellConstructs, TheStandInIsFoundByWhichAndCommand) {
  EXPECT_EQ(lines_of(run("set -e\n[ -x \"$(command -v torchrun)\" ]\n$(which python3) train.py\n"
                         "type torchrun > /dev/null\n")),
            "python3 train.py\n");
}

TEST_F(ShellConstructs, TheSameCommandTwiceIsOneWithACount) {
  const auto captured = run("torchrun t.py\ntorchrun t.py\n");
  ASSERT_EQ(captured.commands.size(), 1);
  EXPECT_EQ(captured.commands[0].count, 2);
  EXPECT_EQ(captured.commands[0].nodes, std::nullopt);
}

TEST_F(ShellConstructs, TheSameWordsWithOtherVariablesAreTwoCommands) {
  const auto captured = run("SIZE=1 torchrun t.py\nSIZE=2 torchrun t.py\n");
  ASSERT_EQ(captured.commands.size(), 2);
  EXPECT_EQ(value_in(captured.commands[1], "SIZE"), "2");
}

TEST_F(ShellConstructs, ALauncherWithoutTrainingIsNotALaunch) {
  const auto captured = run("accelerate config default\ntune download x/y\ntorchrun --help\n");
  EXPECT_EQ(lines_of(captured), "");
  EXPECT_EQ(captured.not_run.size(), 3);
}

TEST_F(ShellConstructs, APythonFileThatStartsCommandsIsFollowed) {
  write("tools/launch.py",
        "import argparse, os, subprocess, sys\n"
        "import names\n"
        "parser = argparse.ArgumentParser()\n"
        "parser.add_argument('--nodes', type=int)\n"
        "nodes = parser.parse_args().nodes\n"
        "os.environ['NODES'] = str(nodes)\n"
        "subprocess.run(['torchrun', f'--nnodes={nodes}', names.TRAIN], check=True)\n"
        "os.system('torchrun shell.py')\n"
        "subprocess.check_call([sys.executable, '-m', 'trainer.run', '--x'])\n"
        "os.execvp('torchrun', ['torchrun', 'last.py'])\n");
  write("tools/names.py", "TRAIN = 'train.py'\n");
  const auto captured = run("python3 -u tools/launch.py --nodes 4\n");
  ASSERT_EQ(captured.commands.size(), 4);
  EXPECT_EQ(line_of(captured.commands[0]), "torchrun --nnodes=4 train.py");
  EXPECT_EQ(value_in(captured.commands[0], "NODES"), "4");
  EXPECT_EQ(line_of(captured.commands[1]), "torchrun shell.py");
  EXPECT_EQ(line_of(captured.commands[2]), "python3 -m trainer.run --x");
  EXPECT_EQ(line_of(captured.commands[3]), "torchrun last.py");
}

TEST_F(ShellConstructs, APythonFileThatMayTrainByItselfIsNot) {
  write("train.py",
        "import os\nif True:\n  from torch.nn import Linear\nimport subprocess\nexit(3)\n");
  write("plain.py", "import os\n# import subprocess\nexit(3)\n");
  EXPECT_EQ(lines_of(run("python3 train.py\npython3 plain.py\n")),
            "python3 train.py\npython3 plain.py\n");
}

}  // namespace
}  // namespace stepwright::capture
