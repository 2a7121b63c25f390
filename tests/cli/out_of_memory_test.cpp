#include "stepwright/core/out_of_memory.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "stepwright/cli/command_line.h"
#include "tests/allocations.h"

namespace stepwright::cli {
namespace {

/// Returns how many calls of `operator new` fail for each command: one in each run, spread over all
/// calls of a whole run. The nightly script asks for more.
std::int64_t failures() {
  const char* asked = std::getenv("STEPWRIGHT_FAILURES");
  return asked ? std::atoll(asked) : 60;
}

/// The end of a child process that ran one command.
struct Ending {
  int status = 0;      ///< Status as returned by `waitpid`.
  std::string errors;  ///< Text that the command wrote to standard error.
};

/// Runs `run` in a child process and discards its standard output. An exception that leaves `run`
/// ends the child as one that leaves `main` ends a program.
template <class Run>
Ending in_child(const Run& run) {
  std::array<int, 2> pipe{};
  if (::pipe(pipe.data()) != 0) throw std::runtime_error("no pipe");
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(pipe[1], STDERR_FILENO);
    std::freopen("/dev/null", "w", stdout);
    exit_when_out_of_memory("stepwright");
    const auto whole = [&]() noexcept { return run(); };
    ::_exit(whole());
  }
  ::close(pipe[1]);
  Ending ending;
  std::array<char, 4096> piece{};
  for (ssize_t n = 0; (n = ::read(pipe[0], piece.data(), piece.size())) > 0;) {
    ending.errors.append(piece.data(), static_cast<std::size_t>(n));
  }
  ::close(pipe[0]);
  ::waitpid(child, &ending.status, 0);
  return ending;
}

/// Runs a command whose allocation number `succeeding` (from 0) fails; -1: no allocation fails.
int run(std::vector<std::string> words, std::int64_t succeeding = -1) {
  words.insert(words.begin(), "stepwright");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  testing::fail_allocation_after(succeeding);
  return run_command_line(static_cast<int>(arguments.size()), arguments.data());
}

/// Returns the number of calls of `operator new` in a run of the command.
std::int64_t allocations_of(const std::vector<std::string>& words) {
  const Ending ending = in_child([&] {
    const std::int64_t before = testing::allocations();
    const int code = run(words);
    std::fprintf(stderr, "allocations %lld\n",
                 static_cast<long long>(testing::allocations() - before));
    return code;
  });
  EXPECT_EQ(ending.status, 0) << ending.errors;
  const std::size_t at = ending.errors.rfind("allocations ");
  return at == std::string::npos ? 0 : std::atoll(ending.errors.c_str() + at + 12);
}

class OutOfMemory : public ::testing::TestWithParam<std::vector<std::string>> {};

TEST_P(OutOfMemory, EndsTheCommandByName) {
  const std::vector<std::string>& words = GetParam();
  const std::int64_t whole = allocations_of(words);
  ASSERT_GT(whole, failures());
  for (std::int64_t i = 0; i < failures(); ++i) {
    const std::int64_t at = i * whole / failures();
    const Ending ending = in_child([&] { return run(words, at); });
    if (!WIFEXITED(ending.status)) {
      ADD_FAILURE() << "allocation " << at << " of " << whole << ": signal "
                    << WTERMSIG(ending.status) << ": " << ending.errors;
      continue;
    }
    // A library may do without a buffer that it asked for: the answer is whole then.
    if (WEXITSTATUS(ending.status) == 0) continue;
    EXPECT_EQ(WEXITSTATUS(ending.status), 1) << at << ": " << ending.errors;
    EXPECT_NE(ending.errors.find("out of memory"), std::string::npos)
        << at << ": " << ending.errors;
  }
}

const std::string kPlan = "examples/llama-3-70b.plan.yaml";
const std::string kScript = "examples/llama-3-70b.megatron.sh";

INSTANTIATE_TEST_SUITE_P(
    Commands, OutOfMemory,
    ::testing::Values(std::vector<std::string>{"memory", kPlan},
                      std::vector<std::string>{"predict", kPlan, "--json"},
                      std::vector<std::string>{"traffic", kPlan, "--json"},
                      std::vector<std::string>{"explain", kPlan},
                      std::vector<std::string>{"export", "--plan", kPlan, "--to", "megatron"},
                      std::vector<std::string>{"import", "--from", "megatron", kScript, "--cluster",
                                               "dgx-h100"},
                      std::vector<std::string>{"check", "--from", "megatron", kScript, "--cluster",
                                               "dgx-h100", "--json"},
                      std::vector<std::string>{"tune", "examples/inline-model.yaml"}),
    [](const auto& tested) { return tested.param.front(); });

}  // namespace
}  // namespace stepwright::cli
