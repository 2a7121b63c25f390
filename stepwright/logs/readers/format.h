#pragma once

#include "stepwright/logs/files/byte_source.h"
#include "stepwright/logs/log.h"

namespace stepwright::logs {

/// Which program wrote a file, by its content. Fails with `kInput`, saying what is read, when none
/// is known to write so.
LogFormat recognise_log(ByteSource& bytes);

}  // namespace stepwright::logs
