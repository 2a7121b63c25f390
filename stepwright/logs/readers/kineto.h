#pragma once

#include "stepwright/logs/files/byte_source.h"
#include "stepwright/logs/log.h"

namespace stepwright {

/// Reads the calls of a trace that the PyTorch profiler exported, in bounded memory: those that
/// `record_param_comms` describes, with the times of their kernels; else kernels of NCCL that say
/// what they send; else (Gloo) the operators `c10d::*`. Marks of `ProfilerStep` are the steps.
/// Fails with `kInput` when the document is damaged.
void read_kineto(ByteSource& bytes, Log& log);

}  // namespace stepwright
