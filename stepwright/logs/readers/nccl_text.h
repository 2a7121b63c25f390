#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "stepwright/logs/files/byte_source.h"
#include "stepwright/logs/log.h"

namespace stepwright::logs {

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
    std::int64_t rank = kUnknown;  ///< Rank in the world.
    std::int32_t run = 0;
  };
  /// A communicator as one process holds it.
  struct Handle {
    std::size_t process = 0;
    std::string id;  ///< Equal on all ranks; empty: not said.
    std::string parent;
    std::int64_t color = 0;
    std::int64_t rank = kUnknown;  ///< Rank in the communicator.
    std::int64_t size = 0;
    std::int32_t communicator = -1;
  };
  /// A message that may be one of an exchange.
  struct ExchangedMessage {
    std::size_t record = 0;            ///< Index of the record in the log.
    std::int64_t sequence = kUnknown;  ///< Number of the call (NCCL's opCount).
    std::int64_t peer = kUnknown;      ///< Rank of the other side in the communicator.
    std::int64_t bytes = 0;
    LogOperation operation{};
  };
  struct Said;

  void line(std::string_view text, std::int64_t number);
  void message(std::string_view prefix, std::string_view text, std::int64_t number);
  [[nodiscard]] std::size_t begin_of_prefix(std::string_view text) const;
  void tuned(std::size_t process, std::string_view text, std::int64_t number);
  /// Messages of one opCount, none twice.
  struct Exchange {
    std::vector<ExchangedMessage> messages{};
    /// Peers and operations already in it.
    std::set<std::pair<std::int64_t, LogOperation>> known{};
  };
  void exchanged(std::size_t handle, const ExchangedMessage& message);
  void close_exchange(Exchange& exchange, const Handle& handle);
  void add_parts(const std::vector<ExchangedMessage>& batch, const Handle& handle,
                 const LogRecord& call);
  void count_tuned();
  void initialised(std::size_t process, const Said& said);
  void called(std::size_t process, const Said& said, std::int64_t number);
  std::size_t process_of(std::string_view host, std::int64_t pid, std::int64_t device);
  std::size_t handle_of(std::size_t process, const std::string& pointer, std::int64_t size);
  void rank_processes();
  void assume_ranks(std::int64_t world);
  using Members = std::map<std::int64_t, std::int64_t>;  ///< Global ranks by ranks of the group.
  /// Members of each communicator, by number.
  using MembersOfGroups = std::map<std::int32_t, Members>;
  void join_handles();
  void list_members(std::int32_t communicator, const Members& members);
  void list_world();
  void note_unlisted(std::int64_t world);
  void resolve_calls(const MembersOfGroups& members);

  Log& log_;
  LogSource* source_ = nullptr;
  std::vector<Process> processes_;
  std::vector<Handle> handles_;
  /// Open exchanges by handle. Until all is read, the communicator of a call in the log is its
  /// handle, and its peer is a rank of it; messages that became part of an exchange stand for none.
  std::map<std::size_t, Exchange> exchanges_;
  bool called_ = false;
  /// Lines of TUNING, which stand for calls where no line of COLL does; the communicator is the
  /// process.
  RecordList tuned_;
  std::map<std::tuple<std::string, std::int64_t, std::int64_t>, std::size_t> known_processes_;
  /// Handle in use, by process and pointer.
  std::map<std::pair<std::size_t, std::string>, std::size_t> live_;
  /// Hosts of processes, by pid.
  std::map<std::int64_t, std::set<std::string, std::less<>>> hosts_;
};

}  // namespace stepwright::logs
