#pragma once

#include "stepwright/diagnose/evidence.h"
#include "stepwright/logs/files/byte_source.h"

namespace stepwright::diagnose {

/// Reads a dump of PyTorch's flight recorder (pickle or JSON, versions 2.4 to 2.10) and adds the
/// rank's calls to the evidence; a later dump of a rank replaces an earlier one. Returns the rank,
/// which is taken from the file's name. Fails with `kInput` if the dump is damaged or the name has
/// no rank.
std::int64_t read_flight_recorder_dump(logs::FileByteReader& bytes, JobFailureEvidence& evidence);

}  // namespace stepwright::diagnose
