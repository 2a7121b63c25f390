#include "stepwright/lab/warden.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace stepwright::lab {
namespace {

/// Reaps orphaned processes until no process holds the other end of the pipe.
[[noreturn]] void keep_watch(int life) {
  ::signal(SIGCHLD, SIG_IGN);
  if (::dup2(life, 0) == 0 && ::syscall(SYS_close_range, 1U, ~0U, 0U) == 0) {
    char nothing = 0;
    while (::read(0, &nothing, 1) < 0 && errno == EINTR) {
    }
  }
  ::_exit(0);
}

FileDescriptor open_namespace(const char* path) {
  return FileDescriptor(
      checked_system_call(::open(path, O_RDONLY | O_CLOEXEC), "open a process namespace"));
}

}  // namespace

NamespaceWarden::NamespaceWarden() : outside_(open_namespace("/proc/self/ns/pid")) {
  const auto made =
      ::syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  process_ = checked_system_call(static_cast<int>(made), "make a process namespace");
  if (process_ == 0) keep_watch(life_.read.get());
  life_.read.close();
  inside_ = open_namespace(fmt::format("/proc/{}/ns/pid", process_).c_str());
}

NamespaceWarden::~NamespaceWarden() {
  kill_namespace_processes();
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

pid_t NamespaceWarden::fork_in_namespace() const {
  checked_system_call(::setns(inside_.get(), CLONE_NEWPID), "enter a process namespace");
  const pid_t child = ::fork();
  if (child == 0) return 0;
  const int error = errno;
  checked_system_call(::setns(outside_.get(), CLONE_NEWPID), "leave a process namespace");
  errno = error;
  return checked_system_call(child, "start a process");
}

void NamespaceWarden::kill_namespace_processes() const { ::kill(process_, SIGKILL); }

}  // namespace stepwright::lab
