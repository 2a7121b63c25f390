#pragma once

#include "stepwright/logs/files/byte_source.h"
#include "stepwright/logs/log.h"

namespace stepwright::logs {

/// Recognises which program wrote a file, by its content. Fails with `kInput`, listing the formats
/// that can be read, if it is none of them.
LogFormat recognise_log(ByteSource& bytes);

}  // namespace stepwright::logs
