#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "stepwright/diagnose/evidence.h"

namespace stepwright::diagnose {

/// A call of a group, or a message between two ranks, that does not end.
struct StuckCall {
  std::int32_t group = 0;     ///< An index into `Evidence::groups`.
  std::int64_t sequence = 0;  ///< Number of the call in its group, from 1; 0 for a message.
  /// Ranks that made the call, each with the call as it made it.
  std::map<std::int64_t, const RankCall*> made;
  std::vector<std::int64_t> missing;  ///< Ranks of the group that did not make it, sorted.
  bool message = false;
  bool differs = false;        ///< True if ranks made calls that do not fit together.
  bool members_known = false;  ///< True if files say which ranks the group has.
};

/// The first call of each group that did not end or that differs between its ranks, and messages
/// whose other side does not make them.
std::vector<StuckCall> stuck_calls(const Evidence& evidence);

/// Ranks of missing[i]'s calls: for each stuck call the stuck calls in which one of its missing
/// ranks waits, by index.
std::vector<std::vector<std::size_t>> waits_for(const std::vector<StuckCall>& calls);

}  // namespace stepwright::diagnose
