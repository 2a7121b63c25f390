#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "stepwright/diagnose/evidence.h"

namespace stepwright::diagnose {

/// A collective call of a process group, or a send and receive, that does not end.
struct StuckCall {
  std::int32_t group =
      0;  ///< Process group of the call: an index into `JobFailureEvidence::groups`.
  /// Sequence number of the collective call in its process group, from 1; 0: a send or receive.
  std::int64_t sequence = 0;
  /// For each rank that made the stuck call, what the files report about it.
  std::map<std::int64_t, const RankCommunicationCall*> made;
  /// Ranks of the process group that did not make the call, sorted.
  std::vector<std::int64_t> missing;
  bool message = false;
  bool differs = false;  ///< True if ranks made calls that differ in operation, size or type.
  /// True if the job's files say which ranks belong to the process group.
  bool members_known = false;
};

/// Returns the calls in which a job is stuck: for each process group, the first call that did not
/// end or that differs between its ranks; also sends and receives without a partner.
std::vector<StuckCall> stuck_calls(const JobFailureEvidence& evidence);

/// Returns, for each stuck call, the indices of the stuck calls that it waits for: those in which a
/// rank waits that has not made this call.
std::vector<std::vector<std::size_t>> stuck_call_dependencies(const std::vector<StuckCall>& calls);

}  // namespace stepwright::diagnose
