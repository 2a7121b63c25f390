#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "stepwright/logs/log.h"

namespace stepwright::logs {

/// Calls and bytes of one group of ranks, summed over all ranks in the log, and the kind of
/// parallelism that they suggest.
struct CommunicatorRole {
  std::int64_t group_size = 0;      ///< Number of ranks in the group; 0: not known.
  std::vector<std::int64_t> ranks;  ///< Global ranks of the group; empty: not known.
  std::map<LoggedOperation, std::int64_t> calls;
  std::int64_t payload_bytes = 0;
  /// Payload bytes of calls whose size occurs more than once on a rank. Such sizes follow from the
  /// plan; the remaining bytes depend on the data, such as the rows that a router sends to each
  /// expert.
  std::int64_t repeated_bytes = 0;
  /// Kind of parallelism that makes such calls, guessed from operations and sizes; empty: none is
  /// recognised.
  std::string probably;
};

/// Returns the groups of ranks of a log and their likely kinds of parallelism, most bytes first.
/// Communicators with equal ranks are one group. The kinds are inferred from operations and sizes,
/// since logs do not state them.
std::vector<CommunicatorRole> communicator_roles(const CommunicationLog& log);

}  // namespace stepwright::logs
