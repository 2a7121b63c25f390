#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stepwright/logs/log.h"

namespace stepwright::logs {

/// Largest number of ranks of a communicator for which unlisted ranks are filled in.
inline constexpr std::int64_t kMaxCommunicatorRanksToFillIn = 1'000'000;

/// Collects the calls of one log file and adds them to the log when it is destroyed. Each
/// communicator of the file is registered once.
class LogCallCollector {
 public:
  /// Begins a new source (file) in `log`, which must outlive this writer.
  LogCallCollector(CommunicationLog& log, std::string file, LogFormat format);
  ~LogCallCollector();
  LogCallCollector(const LogCallCollector&) = delete;
  LogCallCollector& operator=(const LogCallCollector&) = delete;

  [[nodiscard]] LogFileReadResult& source() { return log_.sources[source_]; }
  /// Returns the index of the communicator with this name, and registers it if it is new. Fills in
  /// ranks and size if they were unknown.
  std::int32_t communicator(const std::string& name, std::int64_t size,
                            const std::vector<std::int64_t>& ranks = {});
  [[nodiscard]] LogCommunicator& communicator(std::int32_t id) {
    return log_.communicators[static_cast<std::size_t>(id)];
  }
  /// Adds a call to the records of this log file. Returns the stored record.
  LoggedCall& add(LoggedCall record);
  /// Adds the bytes that an all-to-all sends to each member of its group, given the number of rows
  /// for each; all rows have one size. Empty `rows`: equal shares. Rows that do not divide the
  /// payload are ignored.
  void add_all_to_all_parts(const LoggedCall& record, std::vector<std::int64_t> rows);
  /// Returns the number of ranks of a communicator; 0: not known.
  [[nodiscard]] std::int64_t group_size(std::int32_t communicator) const {
    return communicator < 0 ? 0 : log_.communicators[static_cast<std::size_t>(communicator)].size;
  }
  /// Returns the calls that this file has added so far.
  [[nodiscard]] std::span<LoggedCall> records_added_by_file() { return records_; }

 private:
  CommunicationLog& log_;
  std::size_t source_;
  std::vector<LoggedCall> records_;
  std::int64_t equal_parts_ = 0;
  std::map<std::string, std::int32_t> known_;
};

/// Returns the rank in a file's name, for files that do not state their rank: the number after
/// "rank", else the last number before the extension ("nccl_trace_rank_3", "trace.3.json");
/// `kUnknown`: the name has no number.
std::int64_t rank_in_file_name(const std::string& file);

}  // namespace stepwright::logs
