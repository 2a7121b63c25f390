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

/// A process group of a job.
struct RankGroup {
  std::string name;                 ///< Name of the group in the job: "0", "5".
  std::string purpose;              ///< "default_pg", "tp"; empty: unknown.
  std::vector<std::int64_t> ranks;  ///< Global, in group order; empty: unknown.

  /// Writes the group as "group 5 (tp)".
  [[nodiscard]] std::string text() const;
};

/// A call of a rank, as a recorder or a watchdog saw it.
struct RankCall {
  std::int64_t place = 0;     ///< Entry of a dump or line of a log, from 1.
  std::int32_t group = 0;     ///< An index into `Evidence::groups`.
  std::int64_t sequence = 0;  ///< Number among the calls of its group, from 1; of messages 0.
  std::string operation;      ///< "all_reduce"; messages have ranks: "send 1->2".
  std::string sizes;          ///< Sizes that all ranks must share: "[1024]"; empty: may differ.
  std::string type;           ///< Type of the elements, as "Float"; empty: unknown.
  bool message = false;       ///< A send or a receive.
  bool sends = false;         ///< True for a message that sends.
  std::int64_t peer = logs::kUnknown;  ///< Global rank of the other side of a message.
  bool ended = false;
  std::string frame;  ///< "train.py:41 in step"; empty: unknown.
};

/// Calls of one rank, in the order in which it made them.
struct RankTrail {
  std::int64_t rank = 0;
  std::string file;
  std::vector<RankCall> calls;
};

/// Where a rank was when communication failed, by its traceback.
struct StuckRank {
  std::string file;
  std::int64_t line = 0;
  std::string function;  ///< Function of PyTorch, as "all_reduce".
  std::string frame;     ///< Place in the script, as "train.py:41 in step".
  std::string error;     ///< "RuntimeError: ... Timed out waiting".
};

/// How a rank ended, where it was not communication that failed.
struct RankEnd {
  std::string file;
  std::int64_t line = 0;
  std::string what;   ///< "ValueError: ...", "signal 9 (SIGKILL)".
  std::string frame;  ///< Place of an exception; empty: unknown.
};

/// A sentence of a library that names a disagreement of ranks by itself.
struct SaidMismatch {
  std::string file;
  std::int64_t line = 0;
  std::vector<std::int64_t> ranks;
  std::string text;
};

/// A call that timed out, of which the file does not say the rank or the number.
struct UnplacedCall {
  std::string file;
  std::int64_t line = 0;
  RankCall call;
};

/// All that files say of a job that hung or died.
struct Evidence {
  std::vector<RankGroup> groups;
  std::map<std::int64_t, RankTrail> trails;
  std::map<std::int64_t, StuckRank> stuck;
  std::map<std::int64_t, RankEnd> ends;
  /// The first exception or signal in logs whose lines name no rank.
  std::optional<RankEnd> nameless_end;
  /// Ranks that torchrun asked to end and had to kill, with where it says so: "job.log:44".
  std::map<std::int64_t, std::string> unresponsive;
  std::vector<SaidMismatch> mismatches;
  std::vector<SaidMismatch> absences;    ///< Ranks that did not come, as a library reports.
  std::optional<UnplacedCall> unplaced;  ///< The first of its kind.
  /// The last line about work of the host in front of the first time-out.
  std::optional<HostWorkLine> work_before;
  Clues clues;
  std::set<std::int64_t> seen;   ///< Ranks that any line names.
  std::int64_t world = 0;        ///< Ranks of the job; 0: unknown.
  bool records_messages = true;  ///< False if recorders left out sends and receives (Gloo).

  /// The group of that name, purpose and members, which is added where it is new.
  std::int32_t group(const RankGroup& group);
};

/// Ranks as "0-3, 7"; sorted.
std::string ranks_text(std::vector<std::int64_t> ranks);

}  // namespace stepwright::diagnose
