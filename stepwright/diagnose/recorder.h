#pragma once

#include "stepwright/diagnose/evidence.h"
#include "stepwright/logs/files/byte_source.h"

namespace stepwright::diagnose {

/// Adds the calls of one rank from a dump of PyTorch's flight recorder, pickle or JSON,
/// versions 2.4 to 2.10. The rank is that in the name of the file. A later dump of a rank takes the
/// place of an earlier one. Returns the rank. Fails with `kInput` where the document is damaged, or
/// its name has no rank.
std::int64_t read_recorder(logs::ByteSource& bytes, Evidence& evidence);

}  // namespace stepwright::diagnose
