#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "stepwright/logs/log.h"

namespace stepwright {

/// Calls of one operation in groups of one size, of all ranks in the log.
struct OperationVolume {
  LogOperation operation{};
  std::int64_t group_size = 0;  ///< 0: not known.
  std::int64_t count = 0;
  std::int64_t payload_bytes = 0;  ///< Of the calls whose payload is known, full buffers.
  std::int64_t unknown = 0;        ///< Calls whose payload is not known.
  std::int64_t logged_bytes = 0;   ///< Of those, as logged.
  std::int64_t timed = 0;          ///< Calls that say how long they took.
  double seconds = 0;              ///< Of those.
};

/// By operation, then by size of the group.
std::vector<OperationVolume> volumes(const Log& log);

/// Calls and bytes of payloads from k to 2k - 1 (0 holds empty messages), by operation: key k.
struct SizeClass {
  std::int64_t count = 0;
  std::int64_t payload_bytes = 0;
  std::int64_t timed = 0;
  double seconds = 0;
};
std::map<LogOperation, std::map<std::int64_t, SizeClass>> size_histogram(const Log& log);

}  // namespace stepwright
