#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/collective/algorithm.h"
#include "stepwright/logs/log.h"
#include "stepwright/logs/readers/deepspeed_lines.h"
#include "stepwright/logs/readers/nccl_tests_text.h"

namespace stepwright::diagnose {

/// Messages of one operation and size in a group, as a log timed them.
struct TimedMessage {
  std::int64_t line = 0;  ///< Line of the first message in the log.
  collective::Collective operation{};
  double payload_bytes = -1;  ///< Bytes of the full buffer; negative: only `part_bytes` is known.
  double part_bytes = -1;     ///< Bytes of one rank's shard of the buffer; negative: unknown.
  double seconds = 0;  ///< Shortest time of a message, or the mean that a table prints, in seconds.
  std::int64_t calls = 0;
  std::int64_t ranks = 0;  ///< Number of ranks in the group; 0: unknown.
  /// Number of nodes, each with equally many ranks of the group and no other traffic; 0: unknown.
  std::int64_t nodes = 0;
  std::int64_t world = 0;  ///< Number of ranks of the job; 0: unknown.
};

/// The timed messages of one file.
struct MeasuredMessages {
  std::string file;
  std::vector<TimedMessage> messages;
};

/// Returns the timed calls of a log of any format; for each operation, group and size the shortest
/// transfer.
std::vector<TimedMessage> timed_messages_of(const logs::Log& log);

/// Reads times of messages from a job's log, line by line: verbose lines and tables of DeepSpeed's
/// communication logger, and tables of nccl-tests.
class MessageLines {
 public:
  /// Reads one log line, whichever program wrote it, without a launcher's prefix. `number`: its
  /// line number.
  void read(std::string_view text, std::int64_t number);

  /// Returns one entry for each operation, message size and group size, in the order of their first
  /// lines. Call it once, after the last line.
  [[nodiscard]] std::vector<TimedMessage> messages() &&;

 private:
  void read_test(std::string_view line, std::int64_t number);

  logs::DeepSpeedLines deepspeed_;
  logs::NcclTestsHeading heading_;
  bool in_table_ = false;  ///< True after the heading of a table of nccl-tests.
  std::vector<TimedMessage> tests_;
};

}  // namespace stepwright::diagnose
