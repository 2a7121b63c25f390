#pragma once

#include <map>
#include <utility>
#include <vector>

#include "stepwright/fit/own_cluster/host_operator.h"
#include "stepwright/fit/samples/own_sample.h"

namespace stepwright::fit {

/// Seconds of a kind of computation in one step.
struct HostSeconds {
  double busy = 0;  ///< Seconds inside its operators.
  double host = 0;  ///< Seconds between its operators, and in what only calls others.
};

/// One step of a thread of the host: every moment of it is of a computation, waits for a message,
/// is of the framework's dispatch or of nothing known.
struct HostStep {
  double start_s = 0;  ///< Start of the step, by the clock of its trace.
  double seconds = 0;
  double waiting = 0;
  /// Seconds of dispatch for tensors that are split over ranks (DTensor), outside of updates.
  double dispatch = 0;
  double unknown = 0;
  std::map<std::pair<step::OperatorKind, step::Phase>, HostSeconds> kinds;
};

/// A run of a matrix product.
struct HostProduct {
  step::Phase phase{};
  step::Shape shape;
  double seconds = 0;
  bool beside = false;  ///< A message of this rank was under way for most of it.
};

/// The work of one rank in the steps that its trace marks (`ProfilerStep`).
struct HostTrace {
  std::vector<HostStep> steps;
  std::vector<HostProduct> products;  ///< Products of all steps.
};

/// Reads the steps of a trace of the host. A node of the backward is of the kind of the forward
/// with its sequence number, what is in an operator of its kind unless the name says another. A
/// thread that does nothing while a message of its rank is under way waits for it. Fails with
/// `kInput` when no whole step is marked.
HostTrace host_steps(const logs::KinetoTrace& trace, const ModelWidths& widths);

}  // namespace stepwright::fit
