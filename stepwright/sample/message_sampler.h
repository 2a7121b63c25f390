#pragma once

#include <ostream>

#include "stepwright/runtime/groups.h"
#include "stepwright/sample/world_shape.h"

namespace stepwright {

/// Times messages of every operation in groups of every even shape, all sister groups at the same
/// time, from 4 KB on while they are short; rank 0 writes a row for each (`kMessageSampleHeader`).
/// Between two messages a rank waits as if it computed. Bytes and seconds are those of a held run
/// of that scale: `scale` times what the wire sees. Every rank calls it. Fails with `kRuntime` when
/// one is lost.
void sample_messages(const Groups::World& world, const WorldShape& shape, double scale,
                     std::ostream& out);

}  // namespace stepwright
