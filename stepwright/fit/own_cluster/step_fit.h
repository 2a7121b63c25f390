#pragma once

#include <string>
#include <vector>

#include "stepwright/fit/own_cluster/cluster_fit.h"
#include "stepwright/fit/own_cluster/host_steps.h"
#include "stepwright/logs/log.h"
#include "stepwright/plan/job.h"

namespace stepwright::fit {

/// Laws fitted to a job's steps, and the parts of these steps.
struct StepFit {
  ClusterFit fit;
  double step_s = 0;     ///< Mean seconds of a step, over the middle half of all steps by duration.
  double waiting_s = 0;  ///< Seconds of a step in which ranks wait for messages.
  double unknown_s = 0;  ///< Seconds of a step that belong to no operator of the plan.
  std::vector<std::string> notes;
};

/// Fits the laws of a measured profile to the traces of all ranks of a job that ran a plan on
/// hosts. Matrix products are fitted by their shapes; other computations by the time of their kind
/// in a step over the work that the plan states for it, with the time between operators as their
/// start; messages by the calls of `log`, which was read from the same files. Operations that the
/// job did not send take the law of one that it sent. Fails with `kInput` when the products of a
/// step are not those of the plan.
StepFit fit_steps(const plan::PlannedJob& planned, const std::vector<HostTrace>& ranks,
                  const logs::Log& log);

}  // namespace stepwright::fit
