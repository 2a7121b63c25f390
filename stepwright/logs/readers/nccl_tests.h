#pragma once

#include "stepwright/logs/files/byte_source.h"
#include "stepwright/logs/log.h"

namespace stepwright::logs {

/// Reads what nccl-tests prints (`read_nccl_tests_text`): each row is one call of all ranks, with
/// the out-of-place time. Fails with `kInput` as that does.
void read_nccl_tests(ByteSource& bytes, Log& log);

}  // namespace stepwright::logs
