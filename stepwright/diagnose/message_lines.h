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

/// Equal messages of a group, as a log timed them.
struct TimedMessage {
  std::int64_t line = 0;  ///< Line of the first message.
  collective::Collective operation{};
  double payload_bytes = -1;  ///< The full buffer; negative: only `part_bytes` is known.
  double part_bytes = -1;     ///< One rank's part of the full buffer.
  double seconds = 0;         ///< The shortest, or the mean of a row of a table.
  std::int64_t calls = 0;
  std::int64_t ranks = 0;  ///< Ranks of the group; 0: unknown.
  /// Nodes on which the ranks lie evenly, with nothing beside them; 0: unknown.
  std::int64_t nodes = 0;
  std::int64_t world = 0;  ///< Ranks of the job; 0: unknown.
};

/// Messages that a file timed.
struct MeasuredMessages {
  std::string file;
  std::vector<TimedMessage> messages;
};

/// The timed calls of a log of any format, of each size the shortest transfer.
std::vector<TimedMessage> messages_of(const logs::Log& log);

/// Reads times of messages in logs of a job, line by line: verbose lines and tables of DeepSpeed's
/// communication logger, and tables of nccl-tests.
class MessageLines {
 public:
  /// Reads a line of any program, without what a launcher wrote in front of it.
  void read(std::string_view text, std::int64_t number);

  /// Messages of equal operation and size in groups of equal size, in the order of their first
  /// lines. To be asked once, at the end.
  [[nodiscard]] std::vector<TimedMessage> messages() &&;

 private:
  void read_test(std::string_view line, std::int64_t number);

  logs::DeepSpeedLines deepspeed_;
  logs::NcclTestsHeading heading_;
  bool in_table_ = false;  ///< True below the titles of a table of nccl-tests.
  std::vector<TimedMessage> tests_;
};

}  // namespace stepwright::diagnose
