#pragma once

#include "stepwright/logs/files/byte_source.h"
#include "stepwright/logs/log.h"
#include "stepwright/logs/readers/kineto_trace.h"

namespace stepwright::logs {

/// Adds the communication calls of a trace that the PyTorch profiler exported to `log`, in bounded
/// memory. Calls are the events of `record_param_comms`, with the times of their kernels; without
/// these, NCCL kernels that carry a description of their message; without those (Gloo), the
/// operators `c10d::*`. Steps are the `ProfilerStep` marks. Fails with `kInput` if the document is
/// damaged.
void read_kineto_calls(FileByteReader& bytes, CommunicationLog& log);

/// True if a file begins like JSON, as a PyTorch profiler trace does, and not like a table.
bool is_kineto_trace(FileByteReader& bytes);

/// Reads the operators and kernels of a trace that `export_chrome_trace` of torch.profiler wrote,
/// event by event. A kernel belongs to the operator with its `External id`, or else to the launch
/// with its `correlation`; operators nest by time on their thread. Fails with `kInput`, saying what
/// to do, if the text is no JSON or no trace, or has no kernels.
KinetoTrace read_kineto_trace(FileByteReader& bytes);

/// Reads a PyTorch profiler trace of the host in one pass: returns its operators and adds its
/// communication calls to `log`. The trace need not have kernels.
KinetoTrace read_kineto_host_trace(FileByteReader& bytes, CommunicationLog& log);

}  // namespace stepwright::logs
