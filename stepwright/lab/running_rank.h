#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

#include "stepwright/lab/line_prefix.h"
#include "stepwright/lab/rank_process.h"

namespace stepwright::lab {

/// How the program of a rank ended, and after how many seconds of the run.
struct RankProgramEnd {
  std::int64_t rank = 0;
  std::int64_t node = 0;
  int exit_code = 0;
  int signal = 0;  ///< Signal that ended the rank's program; 0: it exited by itself.
  double seconds = 0;
};

/// Returns a sentence about how a rank ended: `rank 3 on node 1 ended with exit code 7`.
std::string describe_rank_end(const RankProgramEnd& end);

/// One output stream of a rank's program: the pipe that it writes to, and the prefix of its lines.
struct RankOutputStream {
  explicit RankOutputStream(const std::string& prefix) : lines(prefix) {}

  /// True until the rank's program has closed this output stream.
  [[nodiscard]] bool is_output_pipe_open() const { return pipe.read.is_open(); }
  /// Copies available output to `to`, each line after the rank's prefix; waits if there is none
  /// yet.
  void copy_available_output(std::ostream& to);

  Pipe pipe;
  PrefixedLineWriter lines;
};

/// The running program of a rank, and its two output streams.
class RunningRank {
 public:
  /// Starts the program of a rank; `start` must not set output descriptors. Fails with `kRuntime`.
  RunningRank(std::int64_t rank, std::int64_t node, const NamespaceWarden& warden,
              RankProgramStart start);

  /// True until `wait_for_process_end` has collected the exit of the rank's process.
  [[nodiscard]] bool is_rank_process_running() const { return exit_.is_open(); }
  /// Returns a file descriptor that is readable once the process has ended; -1: already collected.
  [[nodiscard]] int process_exit_fd() const { return exit_.get(); }
  /// Sends SIGTERM to the rank's process group, if it is still running.
  void send_sigterm() const;
  /// Waits for the rank's process to end and stores how it ended in `end`. `seconds`: time since
  /// the start of the run, stored too.
  void wait_for_process_end(double seconds);

  RankOutputStream out;
  RankOutputStream err;
  RankProgramEnd end;

 private:
  pid_t process_ = -1;
  FileDescriptor exit_;
};

}  // namespace stepwright::lab
