// Ranks, stores and launchers that hang or misbehave: every rank ends in time.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <thread>

#include "stepwright/core/descriptor.h"
#include "tests/folder.h"
#include "tests/port.h"
#include "tests/runtime/launch/running.h"
#include "tests/runtime/training.h"

namespace stepwright::testing {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr const char* kHangModel =
    "{layers: 2, hidden: 32, heads: 4, kv_heads: 2, ffn: 48, vocab: 250}";
/// The timeout of ranks, the seconds for telling each other, and an allowance for a busy machine.
constexpr std::chrono::seconds kMost{60};

std::string plan_of_ranks(int ranks) {
  return plan_text_of({.model = kHangModel,
                       .choices = fmt::format("parallel: {{data: {}}}\nmicro_batch: 1\n", ranks),
                       .ranks = ranks});
}

/// Returns the environment of a rank that no launcher on this machine started.
std::vector<std::string> place(const Port& port, int rank, int size) {
  return {fmt::format("RANK={}", rank), fmt::format("WORLD_SIZE={}", size), "MASTER_ADDR=127.0.0.1",
          "MASTER_PORT=" + port.text()};
}

/// Waits until a file has a text, at most `kMost`.
void await_text(const std::filesystem::path& file, const std::string& text) {
  const auto until = std::chrono::steady_clock::now() + kMost;
  while (text_of(file).find(text) == std::string::npos &&
         std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_THAT(text_of(file), HasSubstr(text));
}

/// Four ranks that train until one of them ends the others.
class World {
 public:
  explicit World(const Folder& folder) {
    for (int r = 0; r < 4; ++r) {
      ranks_.push_back(std::make_unique<Running>(
          folder, plan_of_ranks(4),
          std::vector<std::string>{"--steps", "1000000", "--timeout", "6"}, place(port_, r, 4)));
    }
  }
  /// Stops a rank in the middle of a step.
  void stop(std::size_t rank) {
    ranks_[0]->await("step      2");
    ::kill(ranks_[rank]->process(), SIGSTOP);
  }
  /// Waits for all ranks except `but`; expects each to report `saying`.
  void expect_ends(std::size_t but, const std::string& saying) {
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      if (r == but) continue;
      EXPECT_EQ(ranks_[r]->wait(kMost), 1);
      EXPECT_THAT(ranks_[r]->errors(), HasSubstr(saying));
    }
  }

 private:
  Port port_;
  std::vector<std::unique_ptr<Running>> ranks_;
};

/// Rank 0 serves the store that all other ranks use.
TEST(Hangs, OfAnyRankEndAllOthersWithItsName) {
  const Folder folder;
  World serving(folder);
  World other(folder);
  serving.stop(0);
  other.stop(2);
  serving.expect_ends(0, "rank 0, which serves the ranks' store, died or hangs; here: step");
  other.expect_ends(2, "rank 2 died or hangs: it does not answer; here: step");
}

/// Listens on a port and sends the same bytes to every client.
class Stranger {
 public:
  Stranger(const Port& port, std::string says) : says_(std::move(says)) {
    const int yes = 1;
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(port.text())));
    checked_system_call(
        ::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), "bind");
    checked_system_call(::listen(socket_.get(), 16), "listen");
    thread_ = std::thread([this] { serve(); });
  }
  ~Stranger() {
    ends_ = true;
    thread_.join();
  }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;

 private:
  void serve() {
    std::vector<FileDescriptor> guests;
    while (!ends_) {
      pollfd one{.fd = socket_.get(), .events = POLLIN, .revents = 0};
      if (::poll(&one, 1, 50) <= 0) continue;
      guests.emplace_back(::accept(socket_.get(), nullptr, nullptr));
      (void)::send(guests.back().get(), says_.data(), says_.size(), MSG_NOSIGNAL);
    }
  }

  FileDescriptor socket_{::socket(AF_INET, SOCK_STREAM, 0)};
  std::string says_;
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

TEST(Hangs, OfAnotherProgramOnTheStoresPortEndTheRanks) {
  const Folder folder;
  const Port ports[2];
  const Stranger silent(ports[0], "");
  const Stranger garbage(ports[1], std::string(64, 'x'));
  Running first(folder, plan_of_ranks(2), {"--timeout", "1"}, place(ports[0], 1, 2));
  Running second(folder, plan_of_ranks(2), {"--timeout", "1"}, place(ports[1], 1, 2));
  for (Running* rank : {&first, &second}) {
    EXPECT_EQ(rank->wait(kMost), 1);
    EXPECT_THAT(rank->errors(), AnyOf(HasSubstr("does not answer: it died or hangs, or another "
                                                "program listens there"),
                                      HasSubstr("rank 0: does not serve the ranks' store at")));
    EXPECT_THAT(rank->errors(), Not(HasSubstr("frame #")));
  }
  EXPECT_THAT(first.errors(), HasSubstr("127.0.0.1:" + ports[0].text()));
  EXPECT_THAT(second.errors(), HasSubstr("127.0.0.1:" + ports[1].text()));
}

TEST(Hangs, OfAWorldThatNeverCompletesNameWhoIsMissing) {
  const Folder folder;
  const Port port;
  const std::vector<std::string> options{"--timeout", "6"};
  Running zero(folder, plan_of_ranks(4), options, place(port, 0, 4));
  Running one(folder, plan_of_ranks(4), options, place(port, 1, 4));
  Running again(folder, plan_of_ranks(4), options, place(port, 1, 4));
  const int codes[] = {zero.wait(kMost), one.wait(kMost), again.wait(kMost)};
  EXPECT_EQ(codes[0], 1);
  EXPECT_THAT(zero.errors(), HasSubstr("rank 2, rank 3 of 4 did not come within 6 s"));
  // Whichever of the two was first waits for the others.
  EXPECT_THAT(std::vector<int>({codes[1], codes[2]}), ::testing::UnorderedElementsAre(1, 2));
  Running& refused = codes[1] == 2 ? one : again;
  Running& waited = codes[1] == 2 ? again : one;
  EXPECT_THAT(refused.errors(), HasSubstr("RANK: 1 is also the rank of process "));
  EXPECT_THAT(waited.errors(), HasSubstr("rank 2, rank 3 of 4 did not come within 6 s"));
}

TEST(Hangs, OfALauncherEndItsRanks) {
  const Folder folder;
  Running run(folder, plan_of_ranks(2), {"--steps", "1000000", "--timeout", "6"});
  run.await("step      2");
  const pid_t ranks[] = {run.rank(0), run.rank(1)};
  ::kill(run.process(), SIGSTOP);
  run.await(fmt::format("the launcher (process {}) has been stopped for 6 s", run.process()));
  for (const pid_t rank : ranks) {
    ASSERT_GT(rank, 0);
    // The rank stays a zombie, as the stopped launcher cannot read its exit code.
    await_text(fmt::format("/proc/{}/stat", rank), ") Z");
  }
}

/// torchrun's agent starts a rank and waits; a rank that outlives the agent would keep its device.
TEST(Hangs, OfRanksWhoseLauncherEndedAreNone) {
  const Folder folder;
  const auto errors = folder.path() / "errors";
  const auto plan = folder.path() / "plan.yaml";
  std::ofstream(plan) << plan_of_ranks(1);
  const pid_t agent = ::fork();
  if (agent == 0) {
    ::setpgid(0, 0);
    ::setenv("TORCHELASTIC_RUN_ID", "run", 1);
    ::setenv("OMP_NUM_THREADS", "1", 1);
    ::setenv("RANK", "0", 1);
    ::setenv("WORLD_SIZE", "1", 1);
    const std::string line = fmt::format("{} train {} --data {} --steps 1000000 2>{}; true",
                                         std::getenv("STEPWRIGHT_COMMAND"), plan.string(),
                                         training_text().string(), errors.string());
    ::execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
    ::_exit(127);
  }
  await_text(errors, "step      2");
  ::kill(agent, SIGKILL);
  ::waitpid(agent, nullptr, 0);
  await_text(errors, fmt::format("error: the launcher (process {}) ended", agent));
  ::kill(-agent, SIGKILL);
}

struct BadPlace {
  std::vector<std::string> environment;
  const char* message;
};

TEST(Hangs, OfNumbersOutsideOfTheWorldAreRefusedAtOnce) {
  const Folder folder;
  const std::vector<std::string> world{"WORLD_SIZE=4", "MASTER_ADDR=127.0.0.1", "MASTER_PORT=9"};
  const BadPlace cases[] = {
      {{"RANK=9"}, "RANK: 9 in the environment is not below WORLD_SIZE, which is 4"},
      {{"RANK=-1"}, "RANK: '-1' in the environment is not a whole number from 0"},
      {{"RANK=one"}, "RANK: 'one' in the environment is not a whole number from 0"},
      {{"RANK=99999999999999999999"}, "is not a whole number from 0"},
      {{"RANK=1", "LOCAL_RANK=4", "LOCAL_WORLD_SIZE=4"},
       "LOCAL_RANK: 4 in the environment is not below LOCAL_WORLD_SIZE, which is 4"},
      {{"RANK=1", "LOCAL_RANK=x"},
       "LOCAL_RANK: 'x' in the environment is not a whole number from 0"}};
  for (const BadPlace& one : cases) {
    std::vector<std::string> environment = world;
    environment.insert(environment.end(), one.environment.begin(), one.environment.end());
    Running rank(folder, plan_of_ranks(4), {}, environment);
    EXPECT_EQ(rank.wait(), 2) << one.message;
    EXPECT_THAT(rank.errors(), HasSubstr(one.message));
  }
}

TEST(Hangs, OfTimeoutsWithoutAnEndAreRefused) {
  const Folder folder;
  for (const char* timeout : {"1e300", "604801", "0", "-1", "nan", "inf", "0.0001"}) {
    Running run(folder, plan_of_ranks(2), {"--timeout", timeout});
    EXPECT_EQ(run.wait(), 2) << timeout;
    EXPECT_THAT(run.errors(), HasSubstr("--timeout: must be a number from 1 to 604800")) << timeout;
  }
}

}  // namespace
}  // namespace stepwright::testing
