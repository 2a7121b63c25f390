#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "stepwright/diagnose/evidence.h"

namespace stepwright::diagnose {

/// A collective of a group, or a message between two ranks, that does not end.
struct StuckCall {
  std::int32_t group = 0;     ///< Process group: an index into `Evidence::groups`.
  std::int64_t sequence = 0;  ///< Number of the call in its group, from 1; 0: a send or receive.
  /// Ranks that made the call, each with its own record of it.
  std::map<std::int64_t, const RankCall*> made;
  std::vector<std::int64_t> missing;  ///< Ranks of the group that did not make the call, sorted.
  bool message = false;
  bool differs = false;        ///< True if ranks made calls that do not match.
  bool members_known = false;  ///< True if the files tell which ranks the group has.
};

/// Returns, for each group, the first call that did not end or that differs between its ranks, and
/// sends and receives whose other side was never called.
std::vector<StuckCall> stuck_calls(const Evidence& evidence);

/// Returns for each stuck call the indices of the other stuck calls that it waits for: those in
/// which one of its missing ranks is waiting.
std::vector<std::vector<std::size_t>> waits_for(const std::vector<StuckCall>& calls);

}  // namespace stepwright::diagnose
