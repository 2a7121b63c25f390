#pragma once

#include <map>
#include <utility>
#include <vector>

#include "stepwright/fit/own_cluster/host_operator.h"
#include "stepwright/fit/samples/own_sample.h"

namespace stepwright::fit {

/// Host seconds that one kind of computation takes in one step.
struct HostComputationSeconds {
  double busy = 0;  ///< Seconds inside operators of this kind of computation.
  /// Seconds between operators of this kind of computation, and in operators that only call others.
  double host = 0;
};

/// One step on a host thread. Every moment of it is assigned to a computation, to waiting for a
/// message, to the framework's dispatch, or to `unknown`.
struct HostThreadStep {
  double start_s = 0;  ///< Start of the step in seconds, on the clock of its trace.
  double seconds = 0;
  double waiting = 0;
  /// Seconds of dispatch for tensors that are split over ranks (DTensor), outside of optimizer
  /// updates.
  double dispatch = 0;
  double unknown = 0;
  std::map<std::pair<step::OperatorKind, step::Phase>, HostComputationSeconds> kinds;
};

/// One execution of a matrix product on the host.
struct HostMatrixProduct {
  step::Phase phase{};
  step::OperatorShape shape;
  double seconds = 0;
  /// True if a message of this rank was in progress during most of the product.
  bool beside = false;
};

/// The work of one rank in the steps that its PyTorch profiler trace marks (`ProfilerStep`).
struct RankHostTrace {
  std::vector<HostThreadStep> steps;
  std::vector<HostMatrixProduct> products;  ///< Matrix products of all steps.
};

/// Reads the marked steps of a host trace, and assigns their time to kinds of computation. A
/// backward operator has the kind of the forward operator with its sequence number; an operator
/// inside another one has the outer kind unless its name says otherwise. A thread that does nothing
/// while a message of its rank is in progress counts as waiting for it. Fails with `kInput` if no
/// whole step is marked.
RankHostTrace read_host_trace_steps(const logs::KinetoTrace& trace, const TensorWidths& widths);

}  // namespace stepwright::fit
