#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "stepwright/fit/samples/operator_sample.h"
#include "stepwright/logs/readers/kineto_trace.h"

namespace stepwright::fit {

/// Number and seconds of kernels that became no sample, for one operator (or else kernel) and
/// reason.
struct UnusedKernels {
  std::size_t kernels = 0;
  double seconds = 0;
};
using UnusedByName = std::map<std::pair<std::string, std::string>, UnusedKernels>;

/// The timed operators read from a PyTorch profiler trace, and the kernels that gave none.
struct TraceOperatorSamples {
  OperatorSampleTable table;  ///< Table of samples; line numbers are indices of trace events.
  UnusedByName unused;
};

/// Returns one sample for each PyTorch operator and its sizes, with the median of its times; the
/// kernels of one operator call count together. Only operators whose kernels ran alone are samples.
/// The backward of a matrix product is the sum of the two products in its backward operator,
/// matched to the forward by sequence number. Only the attention kernel with most samples is kept.
/// Fails with `kInput` if the trace has no operators or no sizes.
TraceOperatorSamples read_trace_operators(const logs::KinetoTrace& trace);

/// Returns the name of the built-in device for a device name that the driver reports ("NVIDIA H100
/// 80GB HBM3"); empty if there is none.
std::string device_of_driver_name(const std::string& name);

}  // namespace stepwright::fit
