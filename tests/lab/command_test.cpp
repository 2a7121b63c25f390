// The `lab` command itself: its exit codes, and cleanup when it is stopped or killed.

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>

#include "own_lab.h"
#include "stepwright/core/descriptor.h"

namespace stepwright::lab {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr uid_t kNobody = 65534;

std::string command_path() {
  const char* path = std::getenv("STEPWRIGHT_COMMAND");
  return std::filesystem::absolute(path == nullptr ? "build/release/stepwright" : path).string();
}

/// A running `stepwright lab ...` command.
class Command {
 public:
  explicit Command(std::vector<std::string> arguments, uid_t user = 0) {
    arguments.insert(arguments.begin(), {command_path(), "lab"});
    std::vector<char*> words;
    for (std::string& argument : arguments) words.push_back(argument.data());
    words.push_back(nullptr);
    process_ = ::fork();
    if (process_ != 0) {
      said_.write.close();
      return;
    }
    ::dup2(said_.write.get(), STDOUT_FILENO);
    ::dup2(said_.write.get(), STDERR_FILENO);
    if (user == 0 || ::setuid(user) == 0) ::execv(words[0], words.data());
    ::_exit(126);
  }
  ~Command() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    static_cast<void>(code());
  }
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  [[nodiscard]] pid_t process() const { return process_; }
  void send(int signal) const { ::kill(process_, signal); }
  /// Closes the pipe that reads the command's output.
  void close_output() { said_.read.close(); }
  /// Reads the command's output until the command ends.
  std::string text() {
    std::string text;
    std::array<char, 4096> block{};
    for (;;) {
      const ssize_t count = ::read(said_.read.get(), block.data(), block.size());
      if (count <= 0) return text;
      text.append(block.data(), count);
    }
  }
  /// Waits for the end; returns the exit code, or the negative number of the signal that ended it.
  int code() {
    int status = 0;
    ::waitpid(process_, &status, 0);
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  Pipe said_;
  pid_t process_ = -1;
};

std::vector<std::string> run_of(const std::string& line) {
  return {"run", "--timeout", "60", "examples/lab-4x4.yaml", "--", "sh", "-c", line};
}

class LabCommand : public ::testing::Test {
 protected:
  void SetUp() override { SKIP_WITHOUT_LAB(); }
};

TEST_F(LabCommand, PassesOnWhatRanksSay) {
  Command lab(run_of("echo hello from $RANK"));
  const pid_t process = lab.process();
  EXPECT_THAT(lab.text(),
              AllOf(HasSubstr("[0] hello from 0\n"), HasSubstr("[15] hello from 15\n")));
  EXPECT_EQ(lab.code(), 0);
  EXPECT_THAT(namespaces_made_by(process), IsEmpty());
}

TEST_F(LabCommand, NamesTheRankThatFailed) {
  const std::string own = own_seconds(70);
  Command lab(run_of("[ $RANK = 5 ] && exit 3; exec sleep " + own));
  const pid_t process = lab.process();
  EXPECT_THAT(lab.text(), HasSubstr("error: rank 5 on node 1 ended with exit code 3\n"));
  EXPECT_EQ(lab.code(), 1);
  EXPECT_EQ(processes_with(own), 0);
  EXPECT_THAT(namespaces_made_by(process), IsEmpty());
}

TEST_F(LabCommand, ClearsUpWhenInterrupted) {
  const std::string own = own_seconds(71);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    Command lab(run_of("exec sleep " + own));
    const pid_t process = lab.process();
    ASSERT_TRUE(soon([&] { return processes_with(own) == 16; }));
    lab.send(signal);
    EXPECT_THAT(lab.text(), HasSubstr("error: interrupted"));
    EXPECT_EQ(lab.code(), 1);
    EXPECT_EQ(processes_with(own), 0);
    EXPECT_THAT(namespaces_made_by(process), IsEmpty());
  }
}

TEST_F(LabCommand, ClearsUpWhenNobodyListens) {
  const std::string own = own_seconds(73);
  Command lab(run_of("exec yes " + own));
  const pid_t process = lab.process();
  ASSERT_TRUE(soon([&] { return processes_with(own) == 16; }));
  lab.close_output();
  EXPECT_NE(lab.code(), 0);
  EXPECT_EQ(processes_with(own), 0);
  EXPECT_THAT(namespaces_made_by(process), IsEmpty());
}

TEST_F(LabCommand, LeavesNoProcessWhenKilledAndCleanRemovesTheRest) {
  const std::string own = own_seconds(72);
  Command lab(run_of(fmt::format("setsid sleep {0} & exec sleep {0}", own)));
  const pid_t process = lab.process();
  ASSERT_TRUE(soon([&] { return processes_with(own) == 32; }));
  const EmulatedCluster living(small_lab(1, 1));
  EXPECT_THAT(Command({"clean"}).text(), Not(HasSubstr(std::to_string(process))));
  lab.send(SIGKILL);
  EXPECT_EQ(lab.code(), -SIGKILL);
  EXPECT_TRUE(soon([&] { return processes_with(own) == 0; }));
  EXPECT_EQ(namespaces_made_by(process).size(), 5);
  const std::string removed = Command({"clean"}).text();
  EXPECT_THAT(removed, HasSubstr("removed stepwright-" + std::to_string(process)));
  EXPECT_THAT(namespaces_made_by(process), IsEmpty());
  EXPECT_EQ(namespaces_made_by(::getpid()).size(), 2);
  EXPECT_EQ(run_shell(living, "true").result.failure, "");
}

TEST_F(LabCommand, SaysWhatIsMissing) {
  Command lab(run_of("true"), kNobody);
  const std::string text = lab.text();
  const int code = lab.code();
  if (code == 126) GTEST_SKIP() << "nobody may not run " << command_path() << " (chmod -R o+rX .)";
  EXPECT_THAT(text, HasSubstr("this machine lacks what a lab needs: root"));
  EXPECT_EQ(code, 3);
}

TEST(LabProfile, NeedsNoRights) {
  Command lab({"profile", "examples/lab-4x4.yaml"});
  EXPECT_THAT(lab.text(), HasSubstr("\"stepwright\": \"cluster/1\""));
  EXPECT_EQ(lab.code(), 0);
}

}  // namespace
}  // namespace stepwright::lab
