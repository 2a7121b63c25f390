#pragma once

#include "stepwright/collective/closed_form.h"

namespace stepwright::collective {

/// Lower bounds of the seconds in which the bytes of an all-gather, a reduce-scatter or an
/// all-reduce pass their links, without message starts and latencies.
struct LeastSeconds {
  /// Bound if each byte enters a node once and evenly over its ranks: (n-1)/(nm) V on a rail,
  /// (m-1)/m V inside, the longer of the two, as in two-level schedules. An all-reduce: twice that.
  double levels_s = 0;
  /// Bound for any schedule in which ranks, not switches, add and copy: bytes may enter a node
  /// several times to relieve the links inside, so that (N-1)/N V reach a rank over both links
  /// together.
  double any_s = 0;
};

/// Returns the bounds for a group with these links; `any_s` is never above `levels_s`.
LeastSeconds least_seconds(Collective collective, const GroupLinks& links, double payload_bytes);

}  // namespace stepwright::collective
