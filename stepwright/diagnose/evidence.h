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

/// A process group of the diagnosed job.
struct RankGroup {
  std::string name;                 ///< Name of the group in the job: "0", "5".
  std::string purpose;              ///< Purpose of the group: "default_pg", "tp"; empty: unknown.
  std::vector<std::int64_t> ranks;  ///< Global ranks in group order; empty: unknown.

  /// Returns the group as text: "group 5 (tp)".
  [[nodiscard]] std::string text() const;
};

/// One communication call of a rank, as a flight recorder or a watchdog reports it.
struct RankCall {
  std::int64_t place = 0;  ///< Index of its entry in a dump, or its line in a log, from 1.
  std::int32_t group = 0;  ///< Process group: an index into `Evidence::groups`.
  /// Number among the calls of its group, from 1; 0: a send or receive.
  std::int64_t sequence = 0;
  /// Operation: "all_reduce"; sends and receives name their ranks: "send 1->2".
  std::string operation;
  /// Sizes that must be equal on all ranks: "[1024]"; empty: ranks may have different sizes.
  std::string sizes;
  std::string type;                    ///< Element type, such as "Float"; empty: unknown.
  bool message = false;                ///< True if the call is a send or a receive.
  bool sends = false;                  ///< True if the call is a send.
  std::int64_t peer = logs::kUnknown;  ///< Global rank at the other end of a send or receive.
  bool ended = false;
  /// Line of the user's program that made the call: "train.py:41 in step"; empty: unknown.
  std::string frame;
};

/// The communication calls of one rank, in the order in which it made them.
struct RankCallHistory {
  std::int64_t rank = 0;
  std::string file;
  std::vector<RankCall> calls;
};

/// Where a rank was when communication failed, from its Python traceback.
struct StuckRank {
  std::string file;
  std::int64_t line = 0;
  std::string function;  ///< PyTorch function in which the rank was, such as "all_reduce".
  std::string frame;     ///< Line of the user's program, such as "train.py:41 in step".
  std::string error;     ///< Message of the exception: "RuntimeError: ... Timed out waiting".
};

/// How a rank ended for a reason other than failed communication.
struct RankEnd {
  std::string file;
  std::int64_t line = 0;
  std::string what;   ///< The exception or signal: "ValueError: ...", "signal 9 (SIGKILL)".
  std::string frame;  ///< Line of the user's program that raised the exception; empty: unknown.
};

/// A library's own report that ranks disagree about a call.
struct ReportedMismatch {
  std::string file;
  std::int64_t line = 0;
  std::vector<std::int64_t> ranks;
  std::string text;
};

/// A call that timed out, reported without its rank or without its number in the group.
struct UnidentifiedCall {
  std::string file;
  std::int64_t line = 0;
  RankCall call;
};

/// All facts in the files of a job that hung or died.
struct Evidence {
  std::vector<RankGroup> groups;
  std::map<std::int64_t, RankCallHistory> trails;
  std::map<std::int64_t, StuckRank> stuck;
  std::map<std::int64_t, RankEnd> ends;
  /// The first exception or signal in logs whose lines name no rank; nullopt: none.
  std::optional<RankEnd> nameless_end;
  /// Ranks that torchrun asked to end and then had to kill, each with the place of the report:
  /// "job.log:44".
  std::map<std::int64_t, std::string> unresponsive;
  std::vector<ReportedMismatch> mismatches;
  /// Reports of libraries that ranks did not arrive at a call.
  std::vector<ReportedMismatch> absences;
  std::optional<UnidentifiedCall> unplaced;  ///< The first such call; nullopt: none.
  /// The last line about work of the host (data, checkpoint, evaluation) before the first time-out;
  /// nullopt: none.
  std::optional<HostWorkLine> work_before;
  Clues clues;
  std::set<std::int64_t> seen;   ///< Ranks that any line of any file names.
  std::int64_t world = 0;        ///< Number of ranks of the job; 0: unknown.
  bool records_messages = true;  ///< False if flight recorders omit sends and receives (Gloo).

  /// Returns the index of the group with this name, purpose and members; adds it if it is new.
  std::int32_t group(const RankGroup& group);
};

/// Returns ranks as sorted text: "0-3, 7".
std::string ranks_text(std::vector<std::int64_t> ranks);

}  // namespace stepwright::diagnose
