#include "stepwright/lab/rank_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

namespace stepwright::lab {
namespace {

/// Returns pointers to texts, as a program receives its arguments; the texts must outlive them.
std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> environment_with(const std::map<std::string, std::string>& changes) {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (!changes.contains(std::string(text.substr(0, text.find('='))))) {
      environment.emplace_back(text);
    }
  }
  for (const auto& [name, value] : changes)
    environment.push_back(fmt::format("{}={}", name, value));
  return environment;
}

/// Everything that a child needs, prepared before the fork.
struct Ready {
  char** command;
  char** environment;
  int network;
  int in;
  int out;
  int err;
};

/// Prints why a child cannot run and ends it; calls only functions that are safe after a fork.
[[noreturn]] void give_up(const char* what, const char* which) {
  constexpr int kCannotRun = 127;
  const char* reason = ::strerrordesc_np(errno);
  for (const char* part : {"stepwright lab: cannot ", what, which, ": ", reason, "\n"}) {
    static_cast<void>(::write(STDERR_FILENO, part, std::strlen(part)) < 0);
  }
  ::_exit(kCannotRun);
}

/// Mounts a /proc that shows the rank's own process namespace. Unmounts on the machine take effect
/// inside, too; otherwise a rank would keep the networks of ended labs alive.
bool mount_processes() {
  return ::unshare(CLONE_NEWNS) == 0 &&
         ::mount("none", "/", nullptr, MS_REC | MS_SLAVE, nullptr) == 0 &&
         ::mount("proc", "/proc", "proc", 0, nullptr) == 0;
}

[[noreturn]] void become(const Ready& ready) {
  ::setpgid(0, 0);
  ::dup2(ready.in, STDIN_FILENO);
  ::dup2(ready.out, STDOUT_FILENO);
  ::dup2(ready.err, STDERR_FILENO);
  if (::setns(ready.network, CLONE_NEWNET) != 0) give_up("enter the network of ", "the node");
  if (!mount_processes()) give_up("mount ", "/proc");
  ::execvpe(ready.command[0], ready.command, ready.environment);
  give_up("run ", ready.command[0]);
}

FileDescriptor open_file(const std::string& path, int flags) {
  return FileDescriptor(
      checked_system_call(::open(path.c_str(), flags | O_CLOEXEC), ("open " + path).c_str()));
}

}  // namespace

pid_t start_rank(const NamespaceWarden& warden, const RankProgramStart& start) {
  const std::vector<std::string> environment = environment_with(start.environment);
  std::vector<char*> command = pointers_to(start.command);
  std::vector<char*> variables = pointers_to(environment);
  const FileDescriptor network = open_file("/run/netns/" + start.network, O_RDONLY);
  const FileDescriptor nothing = open_file("/dev/null", O_RDONLY);
  const Ready ready{.command = command.data(),
                    .environment = variables.data(),
                    .network = network.get(),
                    .in = nothing.get(),
                    .out = start.out,
                    .err = start.err};
  const pid_t process = warden.fork_in_namespace();
  if (process == 0) become(ready);
  ::setpgid(process, process);  // the child or this process, whichever is first
  return process;
}

}  // namespace stepwright::lab
