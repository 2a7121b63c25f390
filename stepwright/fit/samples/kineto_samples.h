#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "stepwright/fit/samples/operator_sample.h"
#include "stepwright/logs/readers/kineto_trace.h"

namespace stepwright::fit {

/// Kernels that became no sample, by the operator (or else the kernel) and the reason.
struct UnusedKernels {
  std::size_t kernels = 0;
  double seconds = 0;
};
using UnusedByName = std::map<std::pair<std::string, std::string>, UnusedKernels>;

/// The operator samples read from a trace, and the kernels that gave none.
struct TraceOperators {
  OperatorTable table;  ///< Samples; their lines are numbers of events.
  UnusedByName unused;
};

/// Returns one sample for each operator and its sizes, with the median of its times; the kernels of
/// one operator call count together. Only operators whose kernels ran alone are samples. The
/// backward of a product is the sum of the two products in its backward node, which is matched to
/// the forward by sequence number. Only the attention kernel with most samples is kept. Fails with
/// `kInput` when the trace has no operators or no sizes.
TraceOperators trace_operators(const logs::KinetoTrace& trace);

/// Returns the built-in device for a driver's name ("NVIDIA H100 80GB HBM3"); empty when there is
/// none.
std::string device_of_driver_name(const std::string& name);

}  // namespace stepwright::fit
