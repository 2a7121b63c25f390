#pragma once

#include <ostream>
#include <vector>

#include "stepwright/cost/plan_messages.h"
#include "stepwright/runtime/messages/groups.h"
#include "stepwright/sample/world_shape.h"

namespace stepwright::sample {

/// Which messages to time.
struct MessageSampling {
  double scale = 1;         ///< Scale of the held runs that they are for.
  bool world_only = false;  ///< The group of all ranks, else groups of every even shape.
  /// The bytes of the longest all-reduce, all-gather and reduce-scatter; 0: goes on while they are
  /// short, and takes all operations.
  std::int64_t most_bytes = 0;
  std::vector<cost::PlanMessage> asked;  ///< None but these, of held runs; empty: all.
};

/// Times messages of every operation by c10d's Gloo and, where a group has several ranks on several
/// nodes, by schedules, all sister groups at the same time, from 4 KB on (64 KB to a given size);
/// rank 0 writes a row for each (`kMessageSampleHeader`). Between two messages a rank waits as if
/// it computed. Bytes and seconds are those of a held run: `scale` times what the wire sees. Every
/// rank calls it. Fails with `kRuntime` when one is lost, with `kInput` when a group that is asked
/// for does not fit the world.
void sample_messages(const runtime::Groups::World& world, const WorldShape& shape,
                     const MessageSampling& sampling, std::ostream& out);

}  // namespace stepwright::sample
