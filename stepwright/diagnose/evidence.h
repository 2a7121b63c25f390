#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "stepwright/diagnose/clue.h"
#include "stepwright/diagnose/host_work.h"
#include "stepwright/logs/record.h"

namespace stepwright::diagnose {

/// A process group of the job being diagnosed.
struct DiagnosedProcessGroup {
  std::string name;  ///< Name that PyTorch gives to the group: "0", "5".
  /// Purpose of the process group: "default_pg" (all ranks), "tp"; empty: unknown.
  std::string purpose;
  /// Global ranks of the members, in group order; empty: unknown.
  std::vector<std::int64_t> ranks;

  /// Returns the name of the process group as text: "group 5 (tp)".
  [[nodiscard]] std::string text() const;
};

/// One collective, send or receive call of a rank, as PyTorch's flight recorder or watchdog reports
/// it.
struct RankCommunicationCall {
  /// Position of the report: index of its entry in a flight-recorder dump, or line of a log, from
  /// 1.
  std::int64_t place = 0;
  std::int32_t group =
      0;  ///< Process group of the call: an index into `JobFailureEvidence::groups`.
  /// Sequence number of the collective call in its process group, from 1; 0: a send or receive.
  std::int64_t sequence = 0;
  /// Name of the operation: "all_reduce"; for a send or receive with its ranks: "send 1->2".
  std::string operation;
  /// Tensor sizes that must be equal on all ranks: "[1024]"; empty: ranks may have different sizes.
  std::string sizes;
  std::string type;      ///< Element type of the tensors, such as "Float"; empty: unknown.
  bool message = false;  ///< True if the call is a send or a receive.
  bool sends = false;    ///< True if the call is a send; false: a receive or a collective.
  std::int64_t peer = logs::kUnknown;  ///< Global rank at the other end of a send or receive.
  bool ended = false;
  /// Line of the user's program that called the operation: "train.py:41 in step"; empty: unknown.
  std::string frame;
};

/// All communication calls known of one rank, in the order in which it made them.
struct RankCallHistory {
  std::int64_t rank = 0;
  std::string file;
  std::vector<RankCommunicationCall> calls;
};

/// Where a rank was in its program when communication failed, from its Python traceback.
struct StuckRankLocation {
  std::string file;
  std::int64_t line = 0;
  std::string function;  ///< PyTorch function that the rank was calling, such as "all_reduce".
  /// Line of the user's program that the rank was in, such as "train.py:41 in step".
  std::string frame;
  std::string error;  ///< Message of the Python exception: "RuntimeError: ... Timed out waiting".
};

/// How a rank ended, if the reason was not failed communication.
struct RankFailure {
  std::string file;
  std::int64_t line = 0;
  /// Exception or signal that ended the rank: "ValueError: ...", "signal 9 (SIGKILL)".
  std::string what;
  /// Line of the user's program that raised the exception: "train.py:41 in step"; empty: unknown.
  std::string frame;
};

/// A library's report that ranks made different calls, or that ranks did not make a call.
struct ReportedCallMismatch {
  std::string file;
  std::int64_t line = 0;
  std::vector<std::int64_t> ranks;
  std::string text;
};

/// A call that timed out, if the report lacks its rank or its sequence number in the group.
struct UnidentifiedTimedOutCall {
  std::string file;
  std::int64_t line = 0;
  RankCommunicationCall call;
};

/// All facts that were read from the files of a job that hung or died.
struct JobFailureEvidence {
  std::vector<DiagnosedProcessGroup> groups;
  std::map<std::int64_t, RankCallHistory> trails;
  std::map<std::int64_t, StuckRankLocation> stuck;
  std::map<std::int64_t, RankFailure> ends;
  /// First exception or signal in logs that do not say which rank wrote a line; nullopt: none.
  std::optional<RankFailure> nameless_end;
  /// Ranks that torchrun asked to end and then had to kill; for each, where that is reported:
  /// "job.log:44".
  std::map<std::int64_t, std::string> unresponsive;
  std::vector<ReportedCallMismatch> mismatches;
  /// Reports of libraries that some ranks did not make a call that others waited in.
  std::vector<ReportedCallMismatch> absences;
  /// First reported time-out of a call without a rank or a sequence number; nullopt: none.
  std::optional<UnidentifiedTimedOutCall> unplaced;
  /// Last log line about other work on a rank's host (preparing data, checkpoint, evaluation)
  /// before the first time-out; nullopt: none.
  std::optional<HostWorkLogLine> work_before;
  FaultLogLines clues;
  /// Ranks of the job that any of its files mentions.
  std::set<std::int64_t> seen;
  std::int64_t world = 0;  ///< Number of ranks of the job; 0: unknown.
  /// False if the flight recorder omits sends and receives (as for Gloo).
  bool records_messages = true;

  /// Returns the index in `groups` of the group with this name, purpose and members. Adds the group
  /// if it is new.
  std::int32_t find_or_add_process_group(const DiagnosedProcessGroup& group);
};

/// Returns ranks as text, sorted, with ranges: "0-3, 7".
std::string rank_ranges_text(std::vector<std::int64_t> ranks);

}  // namespace stepwright::diagnose
