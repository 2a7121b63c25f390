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

/// Duration of messages of one operation, size and process group, from a log.
struct TimedMessage {
  std::int64_t line = 0;  ///< Log line with the first message of this operation, size and group.
  collective::CollectiveOperation operation{};
  double payload_bytes = -1;  ///< Bytes of the full buffer; negative: unknown, use `part_bytes`.
  double part_bytes = -1;     ///< Bytes of one rank's shard of the buffer; negative: unknown.
  /// Seconds of the fastest message; the mean if the log states only means.
  double seconds = 0;
  std::int64_t calls = 0;
  std::int64_t ranks = 0;  ///< Number of ranks in the process group; 0: unknown.
  /// Number of nodes over which the process group is spread evenly, without other traffic; 0:
  /// unknown.
  std::int64_t nodes = 0;
  std::int64_t world = 0;  ///< Number of ranks of the whole job; 0: unknown.
};

/// Durations of messages that one log file reports.
struct MeasuredMessages {
  std::string file;
  std::vector<TimedMessage> messages;
};

/// Returns durations of messages from a log of any format: for each operation, process group and
/// size, those of the fastest message.
std::vector<TimedMessage> fastest_logged_message_times(const logs::CommunicationLog& log);

/// Reads durations of messages from a job's log, line by line: lines and tables of DeepSpeed's
/// communication logger, and tables of nccl-tests.
class MessageTimeLogReader {
 public:
  /// Reads the next log line, of any program. `text`: the line without a launcher's prefix;
  /// `number`: its line number.
  void read_message_log_line(std::string_view text, std::int64_t number);

  /// Returns durations of messages, one entry for each operation, message size and group size, in
  /// the order of their first lines. Call it once, after the last line.
  [[nodiscard]] std::vector<TimedMessage> take_timed_messages() &&;

 private:
  void read_test(std::string_view line, std::int64_t number);

  logs::DeepSpeedLogReader deepspeed_;
  logs::NcclTestsHeading heading_;
  /// True once the heading of a table of nccl-tests was read, so that its rows may follow.
  bool in_table_ = false;
  std::vector<TimedMessage> tests_;
};

}  // namespace stepwright::diagnose
