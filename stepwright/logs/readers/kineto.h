#pragma once

#include "stepwright/logs/files/byte_source.h"
#include "stepwright/logs/log.h"
#include "stepwright/logs/readers/kineto_trace.h"

namespace stepwright::logs {

/// Reads the calls of a trace that the PyTorch profiler exported, in bounded memory: those that
/// `record_param_comms` describes, with the times of their kernels; else kernels of NCCL that say
/// what they send; else (Gloo) the operators `c10d::*`. Marks of `ProfilerStep` are the steps.
/// Fails with `kInput` when the document is damaged.
void read_kineto(ByteSource& bytes, Log& log);

/// Whether a file is JSON rather than a table.
bool is_kineto_trace(ByteSource& bytes);

/// Reads the operators and kernels of what `export_chrome_trace` of torch.profiler wrote, event by
/// event: kernels are joined with the operator of their `External id`, or else of the launch with
/// their `correlation`; operators nest by time on their thread. Fails with `kInput`, saying what to
/// do, when the text is no JSON or no trace, or has no kernels.
KinetoTrace read_kineto_trace(ByteSource& bytes);

/// Reads both in one pass over a trace of the host, which need not have kernels.
KinetoTrace read_host_trace(ByteSource& bytes, Log& log);

}  // namespace stepwright::logs
