#pragma once

#include <span>

#include "stepwright/diagnose/diagnosis.h"
#include "stepwright/logs/files/byte_source.h"

namespace stepwright::diagnose {

/// Finds out why a job failed or was slow, from the files that it left: dumps of PyTorch's flight
/// recorder and logs of any launcher, each recognised by its content. The notes name files that
/// cannot be read. Fails with `kRuntime` if no file can be read.
Diagnosis diagnose(std::span<logs::ByteSource> files);

}  // namespace stepwright::diagnose
