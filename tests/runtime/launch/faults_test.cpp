// Ranks that die, hang, disagree or compute wrong numbers; killed runs; full disks.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "tests/folder.h"
#include "tests/port.h"
#include "tests/runtime/launch/running.h"
#include "tests/runtime/training.h"

namespace stepwright::testing {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr const char* kFaultModel =
    "{layers: 2, hidden: 32, heads: 4, kv_heads: 2, ffn: 48, vocab: 250}";
constexpr const char* kTwoRanks = "parallel: {data: 2}\nmicro_batch: 2\nsharding: GGG\n";

std::string two_ranks() {
  return plan_text_of({.model = kFaultModel, .choices = kTwoRanks, .ranks = 2});
}

TEST(Faults, ADeadRankIsNamedByTheOthers) {
  const Folder folder;
  for (const int victim : {1, 0}) {
    // A process that waited that long would be ended by the time limit of the suite.
    Running run(folder, two_ranks(), {"--steps", "1000000", "--timeout", "10000"});
    run.await("step      2");
    ASSERT_GT(run.rank(victim), 0);
    ::kill(run.rank(victim), SIGKILL);
    EXPECT_EQ(run.wait(), 1);
    EXPECT_THAT(run.errors(), HasSubstr(fmt::format("stepwright-rank {}: error: ", 1 - victim)));
    EXPECT_THAT(
        run.errors(),
        AnyOf(
            HasSubstr(fmt::format("rank {} died or hangs: it does not answer; here: step", victim)),
            HasSubstr("rank 0, which serves the ranks' store, died or hangs; here: step")));
    EXPECT_THAT(run.errors(), HasSubstr("group, ranks 0 1)"));
    EXPECT_THAT(run.errors(), Not(AnyOf(HasSubstr("frame #"), HasSubstr("[c10d]"))));
  }
}

TEST(Faults, AHangingRankIsNamedAfterTheTimeout) {
  const Folder folder;
  Running run(folder, two_ranks(), {"--steps", "1000000", "--timeout", "10"});
  run.await("step      2");
  ASSERT_GT(run.rank(1), 0);
  ::kill(run.rank(1), SIGSTOP);
  EXPECT_EQ(run.wait(), 1);
  EXPECT_THAT(run.errors(), HasSubstr("rank 1 died or hangs: it does not answer; here: step"));
  EXPECT_THAT(run.errors(), HasSubstr("waiting 1"));
}

/// Freezes one thread of a process; its other threads run on.
class FrozenThread {
 public:
  explicit FrozenThread(pid_t thread) : thread_(thread) {
    frozen_ = ::ptrace(PTRACE_SEIZE, thread, nullptr, nullptr) == 0 &&
              ::ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr) == 0 &&
              ::waitpid(thread, nullptr, __WALL) == thread;
  }
  ~FrozenThread() {
    if (frozen_) ::ptrace(PTRACE_DETACH, thread_, nullptr, nullptr);
  }
  FrozenThread(const FrozenThread&) = delete;
  FrozenThread& operator=(const FrozenThread&) = delete;
  [[nodiscard]] bool frozen() const { return frozen_; }

 private:
  pid_t thread_;
  bool frozen_ = false;
};

TEST(Faults, ARankStuckInComputationIsNamedAfterTheTimeout) {
  const Folder folder;
  for (int attempt = 0; attempt < 5; ++attempt) {
    Running run(folder, two_ranks(), {"--steps", "1000000", "--timeout", "10"});
    run.await("step      2");
    const FrozenThread computing(run.rank(1));
    if (!computing.frozen()) GTEST_SKIP() << "this process may not trace its children (sudo -i)";
    run.await("rank 0: error: ");
    const std::string errors = run.errors();
    run.kill_all();
    EXPECT_THAT(errors, HasSubstr("waiting 1"));
    if (errors.find("other ranks waited without success for rank 1 (step ") != std::string::npos)
      return;
    // It was caught inside a message; the next one may be caught in a computation.
    EXPECT_THAT(errors, HasSubstr("waited without success"));
  }
  FAIL() << "never caught in a computation";
}

TEST(Faults, RanksWithOtherPlansAreRefused) {
  const Folder folder;
  const std::string other = plan_text_of(
      {.model = kFaultModel, .choices = "parallel: {data: 2}\nmicro_batch: 4\n", .ranks = 2});
  const Port port;
  const auto environment = [&](int rank) {
    return std::vector<std::string>{fmt::format("RANK={}", rank), "WORLD_SIZE=2",
                                    "MASTER_ADDR=127.0.0.1", "MASTER_PORT=" + port.text()};
  };
  Running first(folder, two_ranks(), {"--timeout", "300"}, environment(0));
  Running second(folder, other, {"--timeout", "300"}, environment(1));
  EXPECT_EQ(first.wait(), 2);
  EXPECT_EQ(second.wait(), 2);
  EXPECT_THAT(first.errors(), HasSubstr("rank 1 has another program of its plan than rank 0"));
  EXPECT_THAT(first.errors(), Not(HasSubstr("step      1")));
}

TEST(Faults, BrokenNumbersStopTheRunOrAreSkipped) {
  const std::string plan = two_ranks();
  const Trained stopped = train({.plan = plan, .steps = 4, .options = {"--lr", "1e100"}});
  EXPECT_EQ(stopped.exit_code, 1);
  EXPECT_THAT(stopped.errors, HasSubstr("the gradients are not numbers"));
  EXPECT_THAT(stopped.errors, HasSubstr("error: step "));
  EXPECT_THAT(stopped.errors, HasSubstr("first in "));
  const Trained skipped =
      train({.plan = plan, .steps = 4, .options = {"--lr", "1e100", "--skip-nan"}});
  EXPECT_EQ(skipped.exit_code, 0) << skipped.errors;
}

TEST(Faults, AFullDiskLosesNothingCommitted) {
  const Folder folder;
  const auto disk = folder.path() / "disk";
  std::filesystem::create_directories(disk);
  if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=1200k") != 0) {
    GTEST_SKIP() << "a small disk needs root (sudo -i)";
  }
  const std::string directory = (disk / "c").string();
  const Trained full = train({.plan = two_ranks(),
                              .steps = 4,
                              .options = {"--checkpoint", directory, "--checkpoint-every", "1"}});
  const int verified = std::system(fmt::format("{} checkpoint verify {} >/dev/null",
                                               std::getenv("STEPWRIGHT_COMMAND"), directory)
                                       .c_str());
  const bool first = std::filesystem::exists(disk / "c/step-00000001");
  ::umount(disk.c_str());
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_THAT(full.errors, HasSubstr("No space left on device"));
  EXPECT_EQ(verified, 0);
  EXPECT_TRUE(first);
}

TEST(Faults, ADirectoryThatCannotBeWrittenIsRefused) {
  const Trained refused = train({.plan = two_ranks(), .options = {"--checkpoint", "/proc/none/c"}});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.errors, HasSubstr("/proc/none/c: cannot be written"));
}

/// Waits, at most five minutes, until a directory contains a checkpoint that is being written.
void await_write(const std::filesystem::path& directory) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(5);
  while (std::chrono::steady_clock::now() < until) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
      if (entry.path().filename().string().starts_with(".writing-")) return;
    }
  }
  FAIL() << "no checkpoint is written in " << directory;
}

/// Waits until the ranks of a killed run have released its directory.
void await_unlocked(const std::filesystem::path& directory) {
  const int file = ::open((directory / ".lock").c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return;  // none of them came so far
  EXPECT_EQ(::flock(file, LOCK_EX), 0);
  ::close(file);
}

/// Kills a run at random moments (every second time while a checkpoint is written) and continues it
/// each time. No committed checkpoint is lost or damaged, and the final weights are those of an
/// uninterrupted run.
TEST(Faults, KilledAtAnyMomentItContinues) {
  const char* wanted = std::getenv("STEPWRIGHT_KILLS");
  const int kills = wanted != nullptr ? std::stoi(wanted) : 20;
  const Folder folder;
  const std::string directory = (folder.path() / "c").string();
  const std::vector<std::string> checkpoints{"--checkpoint", directory, "--resume"};
  std::mt19937 random(1);
  std::string last;
  int inside_a_write = 0;
  for (int i = 0; i < kills; ++i) {
    std::vector<std::string> options{
        "--steps", "1000000", "--checkpoint-every", "1", "--keep-checkpoints", "3"};
    options.insert(options.end(), checkpoints.begin(), checkpoints.end());
    Running run(folder, two_ranks(), options);
    if (i % 4 != 0) run.await("tokens/s");
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 400000));
    // Writes are too short to be hit at random often enough.
    if (i % 2 == 1) await_write(directory);
    run.kill_all();
    EXPECT_THAT(run.errors(), Not(HasSubstr("error"))) << run.errors();
    await_unlocked(directory);
    std::string newest;
    int committed = 0;
    if (!std::filesystem::exists(directory)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with(".writing-")) ++inside_a_write;
      if (!name.starts_with("step-")) continue;
      ++committed;
      newest = std::max(newest, name);
    }
    ASSERT_GE(newest, last);
    ASSERT_LE(committed, 4);
    last = newest;
    if (newest.empty()) continue;
    ASSERT_EQ(std::system(fmt::format("{} checkpoint verify {} >/dev/null",
                                      std::getenv("STEPWRIGHT_COMMAND"), directory)
                              .c_str()),
              0);
  }
  ASSERT_GT(last, "step-00000000");
  EXPECT_GT(inside_a_write, kills / 10);
  const std::int64_t steps = std::stoll(last.substr(5)) + 2;
  const Trained whole = train({.plan = two_ranks(), .steps = steps});
  const Trained rest = train({.plan = two_ranks(), .steps = steps, .options = checkpoints});
  ASSERT_EQ(rest.exit_code, 0) << rest.errors;
  EXPECT_EQ(rest.weights, whole.weights);
}

}  // namespace
}  // namespace stepwright::testing
