#include "stepwright/lab/tool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <vector>

#include "stepwright/core/descriptor.h"
#include "stepwright/core/error.h"

namespace stepwright::lab {
namespace {

/// The standard input, output and error of a spawned program.
class Streams {
 public:
  explicit Streams(int error) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions_, error, STDERR_FILENO);
  }
  ~Streams() { ::posix_spawn_file_actions_destroy(&actions_); }
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

/// Spawns a program in a process group of its own, so that Ctrl-C does not end a tool that makes or
/// removes a part of a lab.
class OwnGroup {
 public:
  OwnGroup() {
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP);
  }
  ~OwnGroup() { ::posix_spawnattr_destroy(&attributes_); }
  OwnGroup(const OwnGroup&) = delete;
  OwnGroup& operator=(const OwnGroup&) = delete;

  [[nodiscard]] const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

std::string read_all(int descriptor) {
  std::string text;
  std::array<char, 4096> block{};
  for (;;) {
    const ssize_t count = ::read(descriptor, block.data(), block.size());
    if (count > 0) text.append(block.data(), count);
    if (count == 0 || (count < 0 && errno != EINTR)) return text;
  }
}

int wait_for(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

/// Returns the lines of a text joined into one.
std::string one_line(const std::string& text) {
  std::string line;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (!line.empty()) line += "; ";
    line += text.substr(at, end - at);
    at = end + 1;
  }
  return line;
}

}  // namespace

std::optional<std::string> run_program_for_error_text(const CommandLine& command) {
  Pipe said;
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t process = 0;
  const Streams streams(said.write.get());
  const OwnGroup group;
  const int error = ::posix_spawnp(&process, arguments.front(), streams.get(), group.get(),
                                   arguments.data(), environ);
  if (error != 0) {
    return fmt::format("{}: {}", command.front(), std::generic_category().message(error));
  }
  said.write.close();
  const std::string text = read_all(said.read.get());
  const int status = wait_for(process);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return std::nullopt;
  return text.empty() ? fmt::format("{} failed", command.front()) : one_line(text);
}

void run_system_programs(std::span<const CommandLine> commands) {
  for (const CommandLine& command : commands) {
    if (const auto complaint = run_program_for_error_text(command)) {
      throw Error(ErrorKind::kRuntime, fmt::format("{}: {}", fmt::join(command, " "), *complaint));
    }
  }
}

}  // namespace stepwright::lab
