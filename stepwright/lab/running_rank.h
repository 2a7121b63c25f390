#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

#include "stepwright/lab/line_prefix.h"
#include "stepwright/lab/rank_process.h"

namespace stepwright::lab {

/// How a rank ended.
struct RankEnd {
  std::int64_t rank = 0;
  std::int64_t node = 0;
  int exit_code = 0;
  int signal = 0;  ///< Signal that ended the rank; 0: it ended by itself.
  double seconds = 0;
};

/// Returns the end of a rank in words: `rank 3 on node 1 ended with exit code 7`.
std::string describe(const RankEnd& end);

/// The output of a rank on one of its streams, until it is closed.
struct RankOutput {
  explicit RankOutput(const std::string& prefix) : lines(prefix) {}

  /// True if more output may come.
  [[nodiscard]] bool is_open() const { return pipe.read.is_open(); }
  /// Passes on available output as lines; waits if there is none yet.
  void pass_on(std::ostream& to);

  Pipe pipe;
  LinePrefix lines;
};

/// A rank that was started, and its two output streams.
class RunningRank {
 public:
  /// Starts the rank; `start` must not state streams. Fails with `kRuntime`.
  RunningRank(std::int64_t rank, std::int64_t node, const Warden& warden, RankStart start);

  /// True until the end of its process has been waited for.
  [[nodiscard]] bool is_running() const { return exit_.is_open(); }
  /// Returns a descriptor that can be read once the process has ended; -1 when it has been waited
  /// for.
  [[nodiscard]] int exit_fd() const { return exit_.get(); }
  /// Sends SIGTERM to its process group, if it is still running.
  void send_sigterm() const;
  /// Waits for the end of the rank if it is still running, and records it; `seconds`: time since
  /// the start of the run.
  void wait(double seconds);

  RankOutput out;
  RankOutput err;
  RankEnd end;

 private:
  pid_t process_ = -1;
  Descriptor exit_;
};

}  // namespace stepwright::lab
