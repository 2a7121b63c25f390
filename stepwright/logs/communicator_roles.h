#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "stepwright/logs/log.h"

namespace stepwright::logs {

/// The messages in one group of ranks, of all ranks in the log.
struct CommunicatorRole {
  std::int64_t group_size = 0;      ///< Ranks of a group; 0: not known.
  std::vector<std::int64_t> ranks;  ///< Ranks of the group; empty: not known.
  std::map<LogOperation, std::int64_t> calls;
  std::int64_t payload_bytes = 0;
  /// The bytes among them of payloads of a size that the same rank sends again: what a plan can
  /// know beforehand; the rest is data, like how many rows a router sends to whom.
  std::int64_t repeated_bytes = 0;
  std::string probably;  ///< The scheme that sends so; empty: no telling.
};

/// The groups of a log, the one with most bytes first; those of equal ranks are one. The scheme is
/// what the pattern of operations and sizes suggests, not what the log says.
std::vector<CommunicatorRole> communicator_roles(const Log& log);

}  // namespace stepwright::logs
