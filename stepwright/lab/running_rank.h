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
  int signal = 0;  ///< Signal that ended it; 0: it ended itself.
  double seconds = 0;
};

/// The words for a rank's end in messages: `rank 3 on node 1 ended with exit code 7`.
std::string describe(const RankEnd& end);

/// The output of a rank to one of its streams, until it is closed.
struct RankOutput {
  explicit RankOutput(const std::string& prefix) : lines(prefix) {}

  /// True if more output may come.
  [[nodiscard]] bool is_open() const { return pipe.read.is_open(); }
  /// Passes on what there is, as lines; waits for it when there is nothing yet.
  void pass_on(std::ostream& to);

  Pipe pipe;
  LinePrefix lines;
};

/// A rank that was started, and the two streams that it writes.
class RunningRank {
 public:
  /// Starts it; `start` says no streams. Fails with `kRuntime`.
  RunningRank(std::int64_t rank, std::int64_t node, const Warden& warden, RankStart start);

  /// Whether its process has not been waited for yet.
  [[nodiscard]] bool is_running() const { return exit_.is_open(); }
  /// Can be read once the process has ended; -1 when it has been waited for.
  [[nodiscard]] int exit_fd() const { return exit_.get(); }
  /// SIGTERM to its process group, if it is still running.
  void ask_to_end() const;
  /// Waits for its end, if it is still running.
  void wait(double seconds);

  RankOutput out;
  RankOutput err;
  RankEnd end;

 private:
  pid_t process_ = -1;
  Descriptor exit_;
};

}  // namespace stepwright::lab
