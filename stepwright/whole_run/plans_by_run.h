#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "stepwright/tune/tune.h"
#include "stepwright/whole_run/whole_run.h"

namespace stepwright::whole_run {

/// A plan of a job with its whole run. Devices of the job's cluster that it does not use are paid.
struct RunCandidate {
  simulate::Prediction prediction;
  IdleDevices idle;
  WholeRun run;
};

/// A plan none of whose runs would end.
struct EndlessRun {
  plan::PlannedJob planned;
  double step_s = 0;
  std::string why;
};

/// The plans of a job by their whole runs.
struct PlansByRun {
  std::vector<RunCandidate> candidates;  ///< The shortest whole run first, at least one.
  std::size_t fastest_step = 0;          ///< Index of the candidate with the shortest step.
  std::vector<EndlessRun> endless;       ///< Runs that would not end, in the order of the search.
};

/// Whole runs of what `search` finds best and of the best of other families, and where the job
/// states how long a failed node is out, or where none of those runs would end, also of the best
/// plans of fewer nodes, whose others are spares: of ever fewer as long as they are better. Fails
/// as `search` does on the job itself, with `kRuntime` where no plan fits, and with `kInput` where
/// no run would end.
PlansByRun plans_by_run(const plan::Job& job,
                        const std::function<tune::TuneResult(const plan::Job&)>& search);

/// `candidates` of `stepwright run JOB --json`.
nlohmann::ordered_json candidates_json(const PlansByRun& comparison);
/// Writes the comparison's `endless` runs.
nlohmann::ordered_json endless_json(const PlansByRun& comparison);

}  // namespace stepwright::whole_run
