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

/// Reads what NCCL prints with NCCL_DEBUG=INFO (subsystems INIT, COLL, TUNING), versions 2.4 to
/// 2.30, mixed with any other text: several ranks in one file, prefixes of launchers, two messages
/// in one line. Each line of COLL is a call at the time when it was enqueued. Ranks are known only
/// after all files: `finish` then joins the communicators of different processes.
class NcclTextReader {
 public:
  explicit NcclTextReader(CommunicationLog& log) : log_(log) {}

  void read(FileByteReader& bytes);
  void finish();

 private:
  struct Process {
    std::string host;
    std::int64_t pid = 0;
    std::int64_t device = 0;
    std::int64_t rank = kUnknown;  ///< Global rank of the process in the job.
    std::int32_t run = 0;
  };
  /// A communicator as one process sees it, identified by NCCL's pointer.
  struct NcclCommunicatorHandle {
    std::size_t process = 0;
    std::string id;  ///< Id of the communicator, equal on all its ranks; empty: not logged.
    std::string parent;
    std::int64_t color = 0;
    /// Rank of the process in the communicator; `kUnknown`: not logged.
    std::int64_t rank = kUnknown;
    std::int64_t size = 0;
    std::int32_t communicator = -1;
  };
  /// A logged send or receive that may be part of an all-to-all, which NCCL logs as separate
  /// messages.
  struct PossibleAllToAllMessage {
    /// Index of the send's or receive's record in the log.
    std::size_t record = 0;
    std::int64_t sequence = kUnknown;  ///< Number that NCCL gives to the call (opCount).
    std::int64_t peer = kUnknown;  ///< Rank of the other sender or receiver in the communicator.
    std::int64_t bytes = 0;
    LoggedOperation operation{};
  };
  struct Said;

  void line(std::string_view text, std::int64_t number);
  void message(std::string_view prefix, std::string_view text, std::int64_t number);
  [[nodiscard]] std::size_t begin_of_prefix(std::string_view text) const;
  void tuned(std::size_t process, std::string_view text, std::int64_t number);
  /// Sends and receives with equal opCount, of which none occurs twice: possibly one all-to-all.
  struct PossibleAllToAll {
    std::vector<PossibleAllToAllMessage> messages{};
    /// Peer and operation of each send and receive collected so far, by which one that occurs twice
    /// is noticed.
    std::set<std::pair<std::int64_t, LoggedOperation>> known{};
  };
  void exchanged(std::size_t handle, const PossibleAllToAllMessage& message);
  void close_exchange(PossibleAllToAll& exchange, const NcclCommunicatorHandle& handle);
  void add_parts(const std::vector<PossibleAllToAllMessage>& batch,
                 const NcclCommunicatorHandle& handle, const LoggedCall& call);
  void count_tuned();
  void initialised(std::size_t process, const Said& said);
  void called(std::size_t process, const Said& said, std::int64_t number);
  std::size_t process_of(std::string_view host, std::int64_t pid, std::int64_t device);
  std::size_t handle_of(std::size_t process, const std::string& pointer, std::int64_t size);
  void rank_processes();
  void assume_ranks(std::int64_t world);
  /// For each rank of a communicator, the global rank in the job.
  using Members = std::map<std::int64_t, std::int64_t>;
  /// Members (rank in the communicator, global rank) of each communicator, by its index in the log.
  using MembersOfGroups = std::map<std::int32_t, Members>;
  void join_handles();
  void list_members(std::int32_t communicator, const Members& members);
  void list_world();
  void note_unlisted(std::int64_t world);
  void resolve_calls(const MembersOfGroups& members);

  CommunicationLog& log_;
  LogFileReadResult* source_ = nullptr;
  std::vector<Process> processes_;
  std::vector<NcclCommunicatorHandle> handles_;
  /// All-to-alls that are not complete yet, by their communicator's handle. Until all files are
  /// read, a logged call has its handle as communicator and a rank of that handle as peer. Messages
  /// that became part of an all-to-all get a count of 0.
  std::map<std::size_t, PossibleAllToAll> exchanges_;
  bool called_ = false;
  /// Calls from lines of subsystem TUNING, used if there are no lines of COLL. Until `finish`,
  /// their communicator is the index of the process.
  LoggedCallList tuned_;
  std::map<std::tuple<std::string, std::int64_t, std::int64_t>, std::size_t> known_processes_;
  /// Handle (index of a process's communicator) that is in use now, by process and logged pointer.
  std::map<std::pair<std::size_t, std::string>, std::size_t> live_;
  /// Host names of processes, by process id.
  std::map<std::int64_t, std::set<std::string, std::less<>>> hosts_;
};

}  // namespace stepwright::logs
