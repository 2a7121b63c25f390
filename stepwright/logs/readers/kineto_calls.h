#pragma once

#include <memory>
#include <string>

#include "stepwright/logs/log.h"
#include "stepwright/logs/readers/kineto_events.h"

namespace stepwright::logs {

/// Returns a reader that adds the calls of a trace to `log` when it is destroyed; `log` must
/// outlive it. Calls are the events that `record_param_comms` describes, with the times of their
/// kernels; without these, NCCL kernels that carry their message; without those (Gloo), the
/// operators `c10d::*`. `ProfilerStep` marks are the steps.
std::unique_ptr<KinetoTraceConsumer> kineto_calls(const std::string& file, Log& log);

}  // namespace stepwright::logs
