#pragma once

#include <string>
#include <vector>

#include "stepwright/fit/own_cluster/cluster_fit.h"
#include "stepwright/fit/own_cluster/host_steps.h"
#include "stepwright/logs/log.h"
#include "stepwright/plan/job.h"

namespace stepwright::fit {

/// The parts of a job's steps, and the laws that say so.
struct StepFit {
  ClusterFit fit;
  double step_s = 0;     ///< The mean of the middle half of all steps.
  double waiting_s = 0;  ///< Seconds of a step that wait for messages.
  double unknown_s = 0;  ///< Seconds of a step in no operator of the plan.
  std::vector<std::string> notes;
};

/// Fits the laws of a measured profile to the traces of all ranks of a job that ran a plan on
/// hosts: products from their shapes, other computations from the sum of their kind in a step over
/// what the plan says of it, the time between operators as their start; messages from the calls of
/// `log`, which was read from the same files. Operations that the job did not send take the law of
/// one that it did. Fails with `kInput` when the products of a step are not those of the plan.
StepFit fit_steps(const plan::PlannedJob& planned, const std::vector<HostTrace>& ranks,
                  const logs::Log& log);

}  // namespace stepwright::fit
