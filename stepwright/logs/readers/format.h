#pragma once

#include "stepwright/logs/files/byte_source.h"
#include "stepwright/logs/log.h"

namespace stepwright::logs {

/// Recognises by its content which program wrote a log file. Fails with `kInput`, listing the
/// readable formats, if it is none of them.
LogFormat recognise_log_format(FileByteReader& bytes);

}  // namespace stepwright::logs
