#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "stepwright/logs/log.h"

namespace stepwright::logs {

/// Calls and bytes in one group of ranks, summed over all ranks in the log, and the kind of
/// parallelism that they suggest.
struct CommunicatorRole {
  std::int64_t group_size = 0;      ///< Number of ranks in the group; 0: not known.
  std::vector<std::int64_t> ranks;  ///< Global ranks of the group; empty: not known.
  std::map<LogOperation, std::int64_t> calls;
  std::int64_t payload_bytes = 0;
  /// Payload bytes of calls whose size the same rank sends more than once. Such sizes follow from
  /// the plan; the remaining bytes depend on the data, such as the rows that a router sends to each
  /// expert.
  std::int64_t repeated_bytes = 0;
  std::string probably;  ///< Kind of parallelism with such calls; empty: no kind is recognised.
};

/// Returns the groups of a log, the one with the most bytes first; communicators with the same
/// ranks are one group. The kind of parallelism is inferred from operations and sizes; logs do not
/// state it.
std::vector<CommunicatorRole> communicator_roles(const Log& log);

}  // namespace stepwright::logs
