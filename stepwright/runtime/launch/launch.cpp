#include "stepwright/runtime/launch/launch.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <system_error>
#include <thread>

#include "stepwright/core/error.h"
#include "stepwright/core/input_file.h"
#include "stepwright/core/program_folder.h"
#include "stepwright/core/signal_recorder.h"
#include "stepwright/core/utf8.h"
#include "stepwright/runtime/launch/room.h"

extern char** environ;  // NOLINT(readability-identifier-naming): of POSIX

namespace stepwright::runtime {
namespace {

struct Launcher {
  const char* name;
  const char* rank;
  const char* size;
};
constexpr Launcher kLaunchers[] = {
    {"torchrun", "RANK", "WORLD_SIZE"},
    {"slurm", "SLURM_PROCID", "SLURM_NTASKS"},
    {"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
};
/// Launchers' variables for the local rank and the ranks of one machine; nullptr: the launcher does
/// not state their number.
constexpr Launcher kOnMachine[] = {
    {"torchrun", "LOCAL_RANK", "LOCAL_WORLD_SIZE"},
    {"slurm", "SLURM_LOCALID", nullptr},
    {"mpirun", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
};

/// Returns the non-negative whole number in an environment variable; nullopt where it is not set.
std::optional<std::int64_t> number_in(const char* variable) {
  const char* given = variable == nullptr ? nullptr : std::getenv(variable);
  if (given == nullptr) return std::nullopt;
  const std::string_view text = given;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) {
    fail_input(fmt::format("{}: '{}' in the environment is not a whole number from 0", variable,
                           one_line_printable_text(text)));
  }
  return value;
}

/// Refuses a rank number that is not below its world's size.
void check_inside(const Launcher& names, std::int64_t rank, std::int64_t size) {
  if (rank < size) return;
  fail_input(fmt::format("{}: {} in the environment is not below {}, which is {}", names.rank, rank,
                         names.size, size));
}

[[noreturn]] void fail_running(const std::filesystem::path& program, int error) {
  throw Error(ErrorKind::kRuntime,
              fmt::format("{}: {}", program.string(), std::generic_category().message(error)));
}

/// Range of ports, below those that systems assign to connections (32768 on Linux, 49152
/// elsewhere), so that no connection takes one before a rank listens on it.
constexpr int kFirstPort = 20000;
constexpr int kPorts = 12000;

bool is_free(int port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool free = ::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  ::close(socket);
  return free;
}

/// Returns a port of this machine on which nothing listens; simultaneous launches start their
/// search at different ports.
int free_port() {
  const int start = static_cast<int>(::getpid() * std::int64_t{37} % kPorts);
  for (int i = 0; i < kPorts; ++i) {
    const int port = kFirstPort + (start + i) % kPorts;
    if (is_free(port)) return port;
  }
  throw Error(ErrorKind::kRuntime, "no free port on this machine");
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (std::string& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

/// Returns this process's environment with some variables set.
std::vector<std::string> environment(const std::vector<std::string>& set) {
  std::vector<std::string> all = set;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('=') + 1);
    if (std::ranges::none_of(set, [&](const auto& own) { return own.starts_with(name); })) {
      all.emplace_back(text);
    }
  }
  return all;
}

pid_t start(const std::filesystem::path& program, const std::vector<std::string>& arguments,
            const std::vector<std::string>& variables) {
  std::vector<std::string> words{program.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> environment_words = environment(variables);
  pid_t id = 0;
  const int error = ::posix_spawn(&id, program.c_str(), nullptr, nullptr, pointers(words).data(),
                                  pointers(environment_words).data());
  if (error != 0) fail_running(program, error);
  return id;
}

/// Time that ranks have to end after they are asked to.
constexpr std::chrono::seconds kAsked{2};

/// The processes of a run that have not ended.
class Running {
 public:
  explicit Running(const SignalRecorder& interrupts) : interrupts_(interrupts) {}

  void add(std::int64_t rank, pid_t id) { ranks_.push_back({rank, id}); }

  /// Waits until all ranks ended well, or one did not, or a signal reached this process; then ends
  /// the rest.
  RankProcessesOutcome wait(std::chrono::seconds grace) {
    constexpr int kPause_ms = 5;
    pollfd signals{.fd = interrupts_.signal_descriptor(), .events = POLLIN, .revents = 0};
    while (!ranks_.empty() && ending_.code == 0 && ending_.interrupted == 0) {
      collect(WNOHANG);
      ::poll(&signals, 1, kPause_ms);
      ending_.interrupted = interrupts_.take_oldest_signal();
    }
    if (ending_.interrupted != 0) ask_to_end();
    end_all(ending_.interrupted != 0 ? kAsked : grace);
    if (ending_.interrupted == 0) ending_.interrupted = interrupts_.take_oldest_signal();
    if (ending_.killed) ending_.killed->out_of_memory = out_of_memory_kill_count() > memory_kills_;
    return ending_;
  }

 private:
  struct Rank {
    std::int64_t rank;
    pid_t id;
  };

  /// Removes ranks that have ended from the list; `options`: those of waitpid.
  void collect(int options) {
    std::erase_if(ranks_, [&](const Rank& one) {
      int status = 0;
      if (::waitpid(one.id, &status, options) != one.id) return false;
      note(one.rank, status);
      return true;
    });
  }

  void note(std::int64_t rank, int status) {
    if (WIFSIGNALED(status) && !ending_.killed && !kills_) {
      ending_.killed = KilledRank{.rank = rank, .signal = WTERMSIG(status)};
    }
    if (ending_.code == 0) ending_.code = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  }

  void ask_to_end() {
    kills_ = true;
    for (const Rank& one : ranks_) ::kill(one.id, SIGTERM);
  }

  /// Waits for the remaining ranks to end by themselves, then kills them.
  void end_all(std::chrono::seconds grace) {
    const auto until = std::chrono::steady_clock::now() + grace;
    while (!ranks_.empty() && std::chrono::steady_clock::now() < until) {
      collect(WNOHANG);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    kills_ = true;
    for (const Rank& one : ranks_) ::kill(one.id, SIGKILL);
    collect(0);
  }

  const SignalRecorder& interrupts_;
  std::vector<Rank> ranks_;
  RankProcessesOutcome ending_;
  std::int64_t memory_kills_ = out_of_memory_kill_count();
  bool kills_ = false;  ///< True once this process ends ranks itself.
};

std::filesystem::path rank_program_path() { return program_folder() / "stepwright-rank"; }

}  // namespace

std::optional<LaunchedRank> rank_from_launcher_environment() {
  for (const Launcher& launcher : kLaunchers) {
    const auto rank = number_in(launcher.rank);
    const auto size = number_in(launcher.size);
    if (!rank || !size) continue;
    check_inside(launcher, *rank, *size);
    rank_on_this_machine();
    return LaunchedRank{*rank, *size, launcher.name};
  }
  return std::nullopt;
}

std::int64_t rank_on_this_machine() {
  for (const Launcher& launcher : kOnMachine) {
    const auto number = number_in(launcher.rank);
    if (!number) continue;
    if (const auto size = number_in(launcher.size)) check_inside(launcher, *number, *size);
    return *number;
  }
  return 0;
}

std::optional<MissingRequirement> missing_rank_program() {
  const std::filesystem::path program = rank_program_path();
  if (path_exists(program)) return std::nullopt;
  return MissingRequirement{
      fmt::format("{} is missing: training needs PyTorch's C++ library", program.string()),
      "`pip install torch` into .venv, install libgloo-dev, and build again (cmake --preset "
      "release && cmake --build --preset release --target stepwright stepwright-rank)"};
}

std::filesystem::path find_rank_program_path() {
  if (const auto lack = missing_rank_program()) {
    fail_unsupported(fmt::format("{}; {}", lack->what, lack->remedy));
  }
  return rank_program_path();
}

std::string killed_rank_text(const KilledRank& killed) {
  return fmt::format(
      "rank {} was ended by signal {} ({}){}", killed.rank, killed.signal,
      ::strsignal(killed.signal),
      killed.out_of_memory ? "; meanwhile the kernel ended processes for lack of memory" : "");
}

RankProcessesOutcome run_rank_programs(const std::filesystem::path& program,
                                       const std::vector<std::string>& arguments,
                                       std::int64_t ranks, std::chrono::seconds grace) {
  const SignalRecorder interrupts;
  const std::string port = std::to_string(free_port());
  Running running(interrupts);
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    running.add(rank,
                start(program, arguments,
                      {"RANK=" + std::to_string(rank), "LOCAL_RANK=" + std::to_string(rank),
                       "WORLD_SIZE=" + std::to_string(ranks), "MASTER_ADDR=127.0.0.1",
                       "MASTER_PORT=" + port, "STEPWRIGHT_PARENT=" + std::to_string(::getpid())}));
  }
  return running.wait(grace);
}

void exec_program_without_return(const std::filesystem::path& program,
                                 const std::vector<std::string>& arguments) {
  std::vector<std::string> words{program.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  ::execv(program.c_str(), pointers(words).data());
  fail_running(program, errno);
}

}  // namespace stepwright::runtime
