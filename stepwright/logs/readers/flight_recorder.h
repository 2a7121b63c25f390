#pragma once

#include "stepwright/logs/files/byte_source.h"
#include "stepwright/logs/log.h"

namespace stepwright::logs {

/// Reads a dump of PyTorch's flight recorder, versions 2.4 to 2.10: a pickle, which is read and
/// never executed, or JSON. A dump does not say whose it is: the rank is that in the name of the
/// file. Fails with `kInput` when the document is damaged.
void read_flight_recorder(ByteSource& bytes, Log& log);

}  // namespace stepwright::logs
