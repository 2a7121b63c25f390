#pragma once

#include <ostream>
#include <vector>

#include "stepwright/cost/plan_messages.h"
#include "stepwright/runtime/messages/groups.h"
#include "stepwright/sample/world_shape.h"

namespace stepwright::sample {

/// Which messages (collectives of one size) `stepwright sample` times on the user's machines.
struct MessageSamplingSettings {
  /// Factor by which emulated training runs (`train --hold --scale`) divide the bytes of messages;
  /// the times are meant for such runs.
  double scale = 1;
  /// True: time only collectives over all ranks; false: also over groups of every shape with
  /// equally many ranks on each node.
  bool world_only = false;
  /// Largest size in bytes of all-reduce, all-gather and reduce-scatter. 0: sizes grow until a
  /// message takes long, and all operations are timed.
  std::int64_t most_bytes = 0;
  /// Messages to time, and no others; empty: all messages.
  std::vector<cost::MeasurablePlanMessage> asked;
};

/// Times collectives of c10d's Gloo backend and, between nodes, of Stepwright's own schedules, in
/// all groups of a shape at once; rank 0 writes one row of a table for each message. Bytes and
/// seconds are those of an emulated run (`train --hold`): `scale` times the real ones. Every rank
/// must call this. Fails with `kRuntime` if a rank is lost, and with `kInput` if a requested group
/// does not fit the ranks.
void measure_messages(const runtime::RankCommunicators::RankWorld& world, const WorldShape& shape,
                      const MessageSamplingSettings& sampling, std::ostream& out);

}  // namespace stepwright::sample
