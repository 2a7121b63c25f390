#pragma once

#include "stepwright/collective/closed_form.h"

namespace stepwright::collective {

/// Seconds that the bytes of an all-gather, a reduce-scatter or an all-reduce take on their links
/// at the least, without starts and latencies.
struct LeastSeconds {
  /// Each byte enters a node once and lands evenly: (n-1)/(nm) V on a rail, (m-1)/m V inside, the
  /// longer of the two; what two-level schedules send. An all-reduce: twice that.
  double levels_s = 0;
  /// The least of any schedule in which ranks, not switches, add and copy: bytes may enter a node
  /// more often to spare the links inside, so that (N-1)/N V come to a rank over both links
  /// together.
  double any_s = 0;
};

/// The least seconds for a group that `links` describe. Never `any_s` > `levels_s`.
LeastSeconds least_seconds(Collective collective, const GroupLinks& links, double payload_bytes);

}  // namespace stepwright::collective
