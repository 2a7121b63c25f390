#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stepwright/logs/log.h"

namespace stepwright::logs {

/// Larger communicators whose ranks a file does not list stay without.
inline constexpr std::int64_t kMostRanks = 1'000'000;

/// Gathers the calls of one file, which a log has when this is gone; knows each communicator of the
/// file once.
class LogWriter {
 public:
  /// Begins a new source of `log`, which must outlive this.
  LogWriter(Log& log, std::string file, LogFormat format);
  ~LogWriter();
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  [[nodiscard]] LogSource& source() { return log_.sources[source_]; }
  /// The communicator of that name; known ranks and sizes are filled in where they were not.
  std::int32_t communicator(const std::string& name, std::int64_t size,
                            const std::vector<std::int64_t>& ranks = {});
  [[nodiscard]] LogCommunicator& communicator(std::int32_t id) {
    return log_.communicators[static_cast<std::size_t>(id)];
  }
  /// Adds a call, which gets the number of the source.
  LogRecord& add(LogRecord record);
  /// Adds the parts of an all-to-all, in rows of equal size to each member of its group; none:
  /// equal parts. Parts that do not make up its payload say nothing.
  void add_parts(const LogRecord& record, std::vector<std::int64_t> rows);
  /// Ranks of the call's group; 0 when not known.
  [[nodiscard]] std::int64_t group_size(std::int32_t communicator) const {
    return communicator < 0 ? 0 : log_.communicators[static_cast<std::size_t>(communicator)].size;
  }
  /// The calls that this file has added.
  [[nodiscard]] std::span<LogRecord> records() { return records_; }

 private:
  Log& log_;
  std::size_t source_;
  std::vector<LogRecord> records_;
  std::int64_t equal_parts_ = 0;
  std::map<std::string, std::int32_t> known_;
};

/// The rank in the name of a file that says none itself: the number behind "rank", else the last
/// number of the name but for its ending ("nccl_trace_rank_3", "trace.3.json"); `kUnknown` without.
std::int64_t rank_of_name(const std::string& file);

}  // namespace stepwright::logs
