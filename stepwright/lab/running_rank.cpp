#include "stepwright/lab/running_rank.h"

#include <fmt/format.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ostream>
#include <utility>

namespace stepwright::lab {

std::string describe_rank_end(const RankProgramEnd& end) {
  const std::string who = fmt::format("rank {} on node {}", end.rank, end.node);
  if (end.signal == 0) return fmt::format("{} ended with exit code {}", who, end.exit_code);
  const char* name = ::sigabbrev_np(end.signal);
  return fmt::format("{} was ended by SIG{}", who, name == nullptr ? "?" : name);
}

void RankOutputStream::copy_available_output(std::ostream& to) {
  std::array<char, 65536> block;  // NOLINT(*-member-init): read into
  const ssize_t count = ::read(pipe.read.get(), block.data(), block.size());
  if (count > 0) lines.add({block.data(), static_cast<std::size_t>(count)}, to);
  if (count > 0 || (count < 0 && errno == EINTR)) return;
  lines.finish(to);
  pipe.read.close();
}

RunningRank::RunningRank(std::int64_t rank, std::int64_t node, const NamespaceWarden& warden,
                         RankProgramStart start)
    : out(fmt::format("[{}] ", rank)),
      err(fmt::format("[{}] ", rank)),
      end{.rank = rank, .node = node} {
  start.out = out.pipe.write.get();
  start.err = err.pipe.write.get();
  process_ = start_rank(warden, start);
  out.pipe.write.close();
  err.pipe.write.close();
  const auto exit = ::syscall(SYS_pidfd_open, process_, 0U);
  if (exit < 0) {
    const int error = errno;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    errno = error;
  }
  exit_ = FileDescriptor(checked_system_call(static_cast<int>(exit), "watch a process"));
}

void RunningRank::send_sigterm() const {
  if (is_rank_process_running()) ::kill(-process_, SIGTERM);
}

void RunningRank::wait_for_process_end(double seconds) {
  if (!is_rank_process_running()) return;
  int status = 0;
  while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  exit_.close();
  end.seconds = seconds;
  if (WIFEXITED(status)) end.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
}

}  // namespace stepwright::lab
