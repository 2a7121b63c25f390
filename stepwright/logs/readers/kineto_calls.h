#pragma once

#include <memory>
#include <string>

#include "stepwright/logs/log.h"
#include "stepwright/logs/readers/kineto_events.h"

namespace stepwright::logs {

/// Adds the calls of a trace to a log, which must outlive it and has them when it is gone: those
/// that `record_param_comms` describes, with the times of their kernels; else kernels of NCCL that
/// say what they send; else (Gloo) the operators `c10d::*`. Marks of `ProfilerStep` are the steps.
std::unique_ptr<KinetoTaker> kineto_calls(const std::string& file, Log& log);

}  // namespace stepwright::logs
