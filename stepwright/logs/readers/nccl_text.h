#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "stepwright/logs/files/byte_source.h"
#include "stepwright/logs/readers/nccl_operations.h"
#include "stepwright/logs/record.h"

namespace stepwright {

/// Reads what NCCL prints with NCCL_DEBUG=INFO (subsystems INIT, COLL, TUNING), versions 2.4
/// to 2.30, whatever stands before and between: several ranks in one file, prefixes of launchers,
/// two messages in one line. A line of COLL is a call at its enqueue. Ranks are known when all
/// files have been read: `finish` joins communicators over them.
class NcclTextReader {
 public:
  explicit NcclTextReader(Log& log) : log_(log) {}

  void read(ByteSource& bytes);
  void finish();

 private:
  struct Process {
    std::string host;
    std::int64_t pid = 0;
    std::int64_t device = 0;
    std::int64_t rank = kUnknown;  ///< In the world.
    std::int32_t run = 0;
  };
  /// A communicator as one process holds it.
  struct Handle {
    std::size_t process = 0;
    std::string id;  ///< Equal on all ranks; empty: not said.
    std::string parent;
    std::int64_t color = 0;
    std::int64_t rank = kUnknown;  ///< In the communicator.
    std::int64_t size = 0;
    std::int32_t communicator = -1;
  };
  /// A call whose handle decides what it is.
  struct HandledCall {
    std::size_t record = 0;  ///< Into the log.
    std::size_t handle = 0;
    std::int64_t peer = kUnknown;      ///< In the communicator.
    std::int64_t sequence = kUnknown;  ///< Its opCount.
  };
  /// A line of TUNING, which stands for a call where no line of COLL does.
  struct TunedCall {
    std::size_t process = 0;
    NcclOperation operation;
    std::int64_t bytes = 0;  ///< Of one rank's part.
    LogRecord record;
  };
  struct Said;

  void line(std::string_view text, std::int64_t number);
  void message(std::string_view prefix, std::string_view text, std::int64_t number);
  [[nodiscard]] std::size_t begin_of_prefix(std::string_view text) const;
  void tuned(std::size_t process, std::string_view text, std::int64_t number);
  void count_tuned();
  void initialised(std::size_t process, const Said& said);
  void called(std::size_t process, const Said& said, std::int64_t number);
  std::size_t process_of(std::string_view host, std::int64_t pid, std::int64_t device);
  std::size_t handle_of(std::size_t process, const std::string& pointer, std::int64_t size);
  void rank_processes();
  void assume_ranks(std::int64_t world);
  void join_handles();
  void collapse_exchanges();

  Log& log_;
  LogSource* source_ = nullptr;
  std::vector<Process> processes_;
  std::vector<Handle> handles_;
  std::vector<HandledCall> calls_;
  std::vector<TunedCall> tuned_;
  std::map<std::tuple<std::string, std::int64_t, std::int64_t>, std::size_t> known_processes_;
  std::map<std::pair<std::size_t, std::string>, std::size_t> live_;  ///< By process and pointer.
};

}  // namespace stepwright
