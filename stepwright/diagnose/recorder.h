#pragma once

#include "stepwright/diagnose/evidence.h"
#include "stepwright/logs/files/byte_source.h"

namespace stepwright::diagnose {

/// Adds the calls of one rank from a dump of PyTorch's flight recorder (pickle or JSON, versions
/// 2.4 to 2.10) to the evidence, and returns the rank, which is taken from the file's name. A later
/// dump of the same rank replaces an earlier one. Fails with `kInput` if the document is damaged or
/// the name has no rank.
std::int64_t read_recorder(logs::ByteSource& bytes, Evidence& evidence);

}  // namespace stepwright::diagnose
