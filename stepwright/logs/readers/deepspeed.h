#pragma once

#include "stepwright/logs/files/byte_source.h"
#include "stepwright/logs/log.h"

namespace stepwright::logs {

/// Reads what DeepSpeed's communication logger prints: verbose lines, or, without them, the last
/// summary table. Sizes are rounded to two digits by the logger, so payloads are about right; of
/// gathers they are one rank's part. Bandwidths, which it computes with the world's size, are not
/// read.
void read_deepspeed_text(ByteSource& bytes, Log& log);

/// Reads `get_raw_data()` or `log_all(return_dict=True)` of the same, written as JSON: exact sizes.
/// Fails with `kInput` when the document is damaged.
void read_deepspeed_raw(ByteSource& bytes, Log& log);

}  // namespace stepwright::logs
