#pragma once

#include <ostream>
#include <vector>

#include "stepwright/cost/plan_messages.h"
#include "stepwright/runtime/messages/groups.h"
#include "stepwright/sample/world_shape.h"

namespace stepwright::sample {

/// Selection of the messages that are timed.
struct MessageSampling {
  /// Scale of the held runs (`train --hold --scale`) for which messages are timed.
  double scale = 1;
  /// True: only the group of all ranks. False: groups of every even shape.
  bool world_only = false;
  /// Bytes of the largest all-reduce, all-gather and reduce-scatter. 0: sizes grow as long as
  /// messages are short, and all operations are timed.
  std::int64_t most_bytes = 0;
  /// Messages of held runs to time, and no others; empty: all messages.
  std::vector<cost::PlanMessage> asked;
};

/// Times messages of every operation with c10d's Gloo and, for groups with several ranks on each of
/// several nodes, with generated schedules. All sister groups run at the same time. Sizes start at
/// 4 KB (at 64 KB if `most_bytes` is given). Rank 0 writes a row for each message
/// (`kMessageSampleHeader`). Between two messages each rank waits as if it computed. Bytes and
/// seconds are those of a held run (`train --hold`), `scale` times the ones on the wire. Every rank
/// must call this function. Fails with `kRuntime` if a rank is lost, and with `kInput` if a
/// requested group does not fit the ranks.
void sample_messages(const runtime::Groups::World& world, const WorldShape& shape,
                     const MessageSampling& sampling, std::ostream& out);

}  // namespace stepwright::sample
