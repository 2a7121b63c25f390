#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "stepwright/fit/samples/operator_sample.h"
#include "stepwright/logs/readers/kineto_trace.h"

namespace stepwright::fit {

/// Kernels that became no sample, by operator (else kernel) and reason.
struct UnusedKernels {
  std::size_t kernels = 0;
  double seconds = 0;
};
using UnusedByName = std::map<std::pair<std::string, std::string>, UnusedKernels>;

/// The operators of a trace.
struct TraceOperators {
  OperatorTable table;  ///< Lines are numbers of events.
  UnusedByName unused;
};

/// One sample for each operator and its sizes, with the median of its times: the kernels of an
/// operator count together. Only operators whose kernels ran alone are samples. The backward of a
/// product is the two products of its node in the backward, joined with the forward by sequence
/// number. One kernel of attention is kept, the one with most samples. Fails with `kInput` when the
/// trace has no operators or no sizes.
TraceOperators trace_operators(const logs::KinetoTrace& trace);

/// The built-in device that a driver calls "NVIDIA H100 80GB HBM3"; empty when there is none.
std::string device_of_driver_name(const std::string& name);

}  // namespace stepwright::fit
