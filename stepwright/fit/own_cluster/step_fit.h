#pragma once

#include <string>
#include <vector>

#include "stepwright/fit/own_cluster/cluster_fit.h"
#include "stepwright/fit/own_cluster/host_steps.h"
#include "stepwright/logs/log.h"
#include "stepwright/plan/job.h"

namespace stepwright::fit {

/// Formulas fitted to the measured steps of a job, and where the time of these steps went.
struct MeasuredStepFit {
  OwnClusterFit fit;
  /// Mean seconds of a step, over the middle half of all steps sorted by duration.
  double step_s = 0;
  double waiting_s = 0;  ///< Seconds per step in which ranks wait for messages.
  double unknown_s = 0;  ///< Seconds per step that belong to no operator of the plan.
  std::vector<std::string> notes;
};

/// Fits the formulas of a measured profile to the traces of all ranks of a job that ran a plan on
/// hosts. Matrix products are fitted by their shapes; other computations by the time of their kind
/// in a step over their planned work, with the time between operators as their start; messages by
/// the calls of `log`, read from the same files. Operations that the job did not send take the
/// formula of one that it sent. Fails with `kInput` if the products of a step are not those of the
/// plan.
MeasuredStepFit fit_measured_steps(const plan::PlannedJob& planned,
                                   const std::vector<RankHostTrace>& ranks,
                                   const logs::CommunicationLog& log);

}  // namespace stepwright::fit
