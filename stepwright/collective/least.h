#pragma once

#include "stepwright/collective/closed_form.h"

namespace stepwright::collective {

/// Lower bounds of the seconds of an all-gather, a reduce-scatter or an all-reduce: the time that
/// its bytes need on the links, without message starts and latencies.
struct CollectiveTimeLowerBounds {
  /// Bound in seconds for two-level schedules, where each byte enters a node once, spread evenly
  /// over its ranks: the longer of (n-1)/(nm) V on the network and (m-1)/m V inside a node, with m
  /// ranks on each of n nodes and V bytes in the full buffer. An all-reduce takes twice that.
  double levels_s = 0;
  /// Bound in seconds for all schedules in which ranks, not switches, add and copy. Bytes may enter
  /// a node several times to relieve its inner links, so that (N-1)/N of the full buffer reach a
  /// rank over both links together, with N ranks.
  double any_s = 0;
};

/// Returns lower bounds of the seconds of a collective for a group with these links; `any_s` is
/// never above `levels_s`.
CollectiveTimeLowerBounds collective_time_lower_bounds(CollectiveOperation collective,
                                                       const GroupLinkRates& links,
                                                       double payload_bytes);

}  // namespace stepwright::collective
