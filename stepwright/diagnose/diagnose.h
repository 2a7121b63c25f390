#pragma once

#include <span>

#include "stepwright/diagnose/diagnosis.h"
#include "stepwright/logs/files/byte_source.h"

namespace stepwright::diagnose {

/// Finds out why a job failed or was slow, from the files that it left: dumps of PyTorch's flight
/// recorder, memory snapshots and logs, each recognised by its content. Files that cannot be read
/// become notes. Fails with `kRuntime` if no file can be read.
Diagnosis diagnose_files(std::span<logs::FileByteReader> files);

}  // namespace stepwright::diagnose
