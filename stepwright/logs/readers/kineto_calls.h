#pragma once

#include <memory>
#include <string>

#include "stepwright/logs/log.h"
#include "stepwright/logs/readers/kineto_events.h"

namespace stepwright::logs {

/// Returns a consumer of trace events that adds communication calls to `log` when it is destroyed;
/// `log` must outlive it. Calls are the events of `record_param_comms`, with the times of their
/// kernels; without these, NCCL kernels that carry a description of their message; without those
/// (Gloo), the operators `c10d::*`. Steps are the `ProfilerStep` marks.
std::unique_ptr<KinetoTraceConsumer> make_kineto_call_consumer(const std::string& file,
                                                               CommunicationLog& log);

}  // namespace stepwright::logs
