#pragma once

#include <span>

#include "stepwright/diagnose/diagnosis.h"
#include "stepwright/logs/files/byte_source.h"

namespace stepwright::diagnose {

/// Says what happened to a job from whatever files it left: dumps of PyTorch's flight recorder and
/// logs of any launcher, each recognised by its content. A file that cannot be read is named in the
/// notes. Fails with `kRuntime` when no file could be read.
Diagnosis diagnose(std::span<logs::ByteSource> files);

}  // namespace stepwright::diagnose
