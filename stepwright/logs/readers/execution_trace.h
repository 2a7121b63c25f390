#pragma once

#include "stepwright/logs/files/byte_source.h"
#include "stepwright/logs/log.h"

namespace stepwright::logs {

/// Reads the calls of PyTorch's host execution trace (`ExecutionTraceObserver`, schemas 1.0.3 to
/// 1.1.1): nodes `record_param_comms`, else (Gloo) operators `c10d::*` with the group that an
/// enclosing functional operator names. It has no times, and its rank is that in the name of the
/// file. Fails with `kInput` when the document is damaged.
void read_execution_trace(ByteSource& bytes, Log& log);

}  // namespace stepwright::logs
