#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stepwright/logs/record.h"

namespace stepwright {

/// Adds the calls of one file to a log; knows each communicator of the file once.
class LogWriter {
 public:
  /// Begins a new source of `log`, which must outlive this.
  LogWriter(Log& log, std::string file, LogFormat format);

  [[nodiscard]] LogSource& source() { return log_.sources[source_]; }
  /// The communicator of that name; known ranks and sizes are filled in where they were not.
  std::int32_t communicator(const std::string& name, std::int64_t size,
                            const std::vector<std::int64_t>& ranks = {});
  [[nodiscard]] LogCommunicator& communicator(std::int32_t id) {
    return log_.communicators[static_cast<std::size_t>(id)];
  }
  /// Adds a call, which gets the number of the source.
  LogRecord& add(LogRecord record);
  /// Ranks of the call's group; 0 when not known.
  [[nodiscard]] std::int64_t group_size(std::int32_t communicator) const {
    return communicator < 0 ? 0 : log_.communicators[static_cast<std::size_t>(communicator)].size;
  }
  /// The calls that this file has added.
  [[nodiscard]] std::span<LogRecord> records() {
    return std::span(log_.records).subspan(first_record_);
  }

 private:
  Log& log_;
  std::size_t source_;
  std::size_t first_record_;
  std::map<std::string, std::int32_t> known_;
};

/// The rank in the name of a file that says none itself: the number behind "rank", else the last
/// number of the name but for its ending ("nccl_trace_rank_3", "trace.3.json"); `kUnknown` without.
std::int64_t rank_of_name(const std::string& file);

}  // namespace stepwright
