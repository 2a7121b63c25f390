#pragma once

#include <map>
#include <utility>
#include <vector>

#include "stepwright/fit/own_cluster/host_operator.h"
#include "stepwright/fit/samples/own_sample.h"

namespace stepwright::fit {

/// Host seconds of one kind of computation in one step.
struct HostSeconds {
  double busy = 0;  ///< Seconds inside operators of the kind.
  /// Seconds between operators of the kind, and in operators that only call others.
  double host = 0;
};

/// One step of a host thread. Every moment of it belongs to a computation, to waiting for a
/// message, to the framework's dispatch, or to `unknown`.
struct HostStep {
  double start_s = 0;  ///< Start of the step, by the clock of its trace.
  double seconds = 0;
  double waiting = 0;
  /// Seconds of dispatch for tensors that are split over ranks (DTensor), outside of updates.
  double dispatch = 0;
  double unknown = 0;
  std::map<std::pair<step::OperatorKind, step::Phase>, HostSeconds> kinds;
};

/// One execution of a matrix product.
struct HostProduct {
  step::Phase phase{};
  step::Shape shape;
  double seconds = 0;
  bool beside = false;  ///< True if a message of this rank was in progress for most of it.
};

/// The work of one rank in the steps that its trace marks (`ProfilerStep`).
struct HostTrace {
  std::vector<HostStep> steps;
  std::vector<HostProduct> products;  ///< Products of all steps.
};

/// Reads the steps of a host trace. A backward node has the kind of the forward with its sequence
/// number; an operator inside another one has that one's kind unless its name says otherwise. A
/// thread that does nothing while a message of its rank is in progress counts as waiting for it.
/// Fails with `kInput` when no whole step is marked.
HostTrace host_steps(const logs::KinetoTrace& trace, const ModelWidths& widths);

}  // namespace stepwright::fit
