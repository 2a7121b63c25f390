#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "stepwright/capture/launch_record.h"
#include "stepwright/capture/processes.h"
#include "tests/capture/workplace.h"
#include "tests/core/refusal.h"

namespace stepwright::capture {
namespace {

using std::chrono::milliseconds;

/// A timeout short enough to end a program that never ends.
constexpr milliseconds kShort{1500};

class Endings : public Workplace {
 protected:
  void TearDown() override {
    EXPECT_TRUE(descendant_processes(::getpid()).empty()) << "something is left running";
    Workplace::TearDown();
  }
  std::string refused(const Words& command) {
    return refusal([&] { static_cast<void>(capture_launch_script({.command = command})); });
  }
};

TEST_F(Endings, BadRequestsAreRefused) {
  EXPECT_EQ(refused({}), "COMMAND is missing: stepwright capture -- bash train.sh");
  EXPECT_EQ(refused({"bash", "none.sh"}), "none.sh: there is no such script");
  EXPECT_EQ(refused({"./none.sh"}), "./none.sh: there is no such script");
  EXPECT_EQ(refused({"bash", "."}), ".: is a folder; name a launch script");
  EXPECT_EQ(
      refused({"no-such-program-here"}),
      "no-such-program-here: no program in PATH has this name; a script is run as `bash FILE`");
  EXPECT_EQ(
      refusal([] { static_cast<void>(capture_launch_script({.command = {"true"}, .nodes = 0})); }),
      "--nodes: must be from 1 to 100000 (0)");
}

TEST_F(Endings, AScriptThatCannotBeExecutedIsRefused) {
  write("job.sh", "torchrun t.py\n");
  std::filesystem::permissions("job.sh", std::filesystem::perms::owner_read);
  EXPECT_EQ(refused({"./job.sh"}),
            "./job.sh: cannot be executed; run it as `bash ./job.sh`, or change its permissions");
}

TEST_F(Endings, TheExitCodeOfTheScriptIsKept) {
  EXPECT_EQ(run("torchrun t.py\nexit 7\n").exit_code, 7);
  EXPECT_EQ(run("kill -9 $$\n").exit_code, 128 + SIGKILL);
  EXPECT_TRUE(run("true\n").commands.empty());
}

TEST_F(Endings, ALauncherItselfCanBeCaptured) {
  const auto captured = capture_launch_script({.command = {"torchrun", "t.py"}});
  EXPECT_EQ(lines_of(captured), "torchrun t.py\n");
  EXPECT_EQ(lines_of(capture_launch_script({.command = {"/opt/none/torchrun", "t.py"}})),
            "/opt/none/torchrun t.py\n");
  write("job.sh", "#!/bin/bash\n#SBATCH -N 4\nsrun torchrun t.py $SLURM_NNODES\n");
  EXPECT_EQ(lines_of(capture_launch_script({.command = {"sbatch", "job.sh"}})),
            "srun torchrun t.py 4\n");
  EXPECT_EQ(lines_of(capture_launch_script({.command = {"./job.sh"}})), "srun torchrun t.py 4\n");
  EXPECT_EQ(lines_of(capture_launch_script({.command = {"srun", "-N2", "python", "t.py"}})),
            "srun -N2 python t.py\n");
}

TEST_F(Endings, AnEndlessLoopIsEndedAtTheLimit) {
  const auto captured = run("torchrun t.py\nwhile :; do :; done\n", {.timeout = kShort});
  EXPECT_EQ(captured.exit_code, 124);
  EXPECT_EQ(lines_of(captured), "torchrun t.py\n");
  EXPECT_TRUE(mentions(captured.notes, "limit of 1.5 s"));
}

TEST_F(Endings, AScriptThatIgnoresSignalsIsKilled) {
  const auto captured =
      run("trap '' TERM INT HUP\ntorchrun t.py\nwhile :; do :; done\n", {.timeout = kShort});
  EXPECT_EQ(captured.exit_code, 124);
  EXPECT_EQ(captured.commands.size(), 1);
}

TEST_F(Endings, WhatAScriptLeavesRunningIsEnded) {
  write("loop.sh", "trap '' TERM HUP\necho $$ > pid\nwhile :; do read -t 1 < /dev/null; done\n");
  const auto captured =
      run("setsid bash loop.sh &\nuntil [ -s pid ]; do sleep 1; done\ntorchrun t.py\n");
  EXPECT_EQ(captured.commands.size(), 1);
  std::ifstream file("pid");
  pid_t left = 0;
  file >> left;
  ASSERT_GT(left, 0);
  EXPECT_NE(::kill(left, 0), 0);
}

TEST_F(Endings, AScriptThatKillsItsParentEndsOnlyItself) {
  const auto captured = run("torchrun t.py\nkill -9 $PPID\nkill -9 0\n");
  EXPECT_EQ(lines_of(captured), "torchrun t.py\n");
  const auto group = run("torchrun t.py\nkill -TERM -- -$PPID\nkill -TERM 0\nexit 3\n");
  EXPECT_EQ(lines_of(group), "torchrun t.py\n");
}

TEST_F(Endings, AScriptThatCallsItselfIsRefused) {
  EXPECT_EQ(refusal([&] { run("bash \"$0\"\n"); }),
            "job.sh: calls itself, or others in a circle, more than 50 times; make the script end "
            "its recursion");
}

TEST_F(Endings, ClosedInputIsEmpty) {
  const int input = ::dup(STDIN_FILENO);
  ::close(STDIN_FILENO);
  const auto captured = run("cat\ntorchrun t.py\ncat <&- || true\ntorchrun u.py <&- >&-\n");
  ::dup2(input, STDIN_FILENO);
  ::close(input);
  EXPECT_EQ(lines_of(captured), "torchrun t.py\ntorchrun u.py\n");
}

TEST_F(Endings, ASignalIsPassedOnAndEndsTheCapture) {
  write("job.sh",
        "trap 'touch told; exit 5' INT\ntorchrun t.py\ntouch ready\nwhile :; do :; done\n");
  const pid_t child = ::fork();
  if (child == 0) {
    const ScriptCaptureResult captured = capture_launch_script({.command = {"bash", "job.sh"}});
    ::_exit(captured.interrupted_by == SIGINT && captured.commands.size() == 1 ? 0 : 1);
  }
  while (!std::filesystem::exists("ready")) std::this_thread::sleep_for(milliseconds(10));
  ::kill(child, SIGINT);
  int status = 1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(std::filesystem::exists("told"));
}

TEST_F(Endings, TheFolderIsRemoved) {
  const auto captured = run("echo \"$STEPWRIGHT_CAPTURE\" > place\ntorchrun t.py\n");
  std::string place;
  std::ifstream("place") >> place;
  ASSERT_FALSE(place.empty());
  EXPECT_FALSE(std::filesystem::exists(place));
}

TEST_F(Endings, OnlyLaunchersLeavesFilesAlone) {
  const auto captured =
      run("set -e\nmkdir -p new\ncp job.sh copy.sh\nrm -rf job.sh\npip install torch\ngit clone x\n"
          "D=$(mktemp -d)\necho 'a: 1' > $D/c.yaml\ncp $D/c.yaml $D/d.yaml\n"
          "echo hello | tee greeting | grep -q hello\ntorchrun t.py $D/d.yaml\n",
          {.only_launchers = true});
  EXPECT_EQ(captured.exit_code, 0);
  ASSERT_EQ(captured.commands.size(), 1);
  EXPECT_EQ(captured.commands[0].files.back().text, "a: 1\n");
  EXPECT_TRUE(std::filesystem::exists("job.sh"));
  EXPECT_FALSE(std::filesystem::exists("new") || std::filesystem::exists("copy.sh") ||
               std::filesystem::exists("greeting"));
  EXPECT_TRUE(mentions(captured.not_run, "pip install torch"));
}

}  // namespace
}  // namespace stepwright::capture
