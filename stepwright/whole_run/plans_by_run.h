#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "stepwright/tune/tune.h"
#include "stepwright/whole_run/whole_run.h"

namespace stepwright::whole_run {

/// A plan of a job and its whole run. Devices of the job's cluster that the plan leaves idle are
/// part of the cost.
struct RunCandidate {
  simulate::Prediction prediction;
  IdleDevices idle;
  WholeRun run;
};

/// A plan whose whole run would never end, and why.
struct NeverEndingRun {
  plan::PlannedJob planned;
  double step_s = 0;
  std::string why;
};

/// The plans of a job, compared by their whole runs.
struct PlansByRun {
  std::vector<RunCandidate> candidates;  ///< At least one candidate, the shortest whole run first.
  std::size_t fastest_step = 0;          ///< Index of the candidate with the shortest step.
  /// Plans whose runs would never end, in the order of the search.
  std::vector<NeverEndingRun> endless;
};

/// Compares the whole runs of the best plan that `search` finds and of the best plans of other
/// kinds. Also tries N-1, N-2, ... nodes with the remaining nodes as spares, as long as the run
/// gets shorter; this is done if the job states how long a failed node is out, or if no run on all
/// nodes would end. Fails as `search`, with `kRuntime` if no plan fits, and with `kInput` if no run
/// would end.
PlansByRun plans_by_run(const plan::Job& job,
                        const std::function<tune::TuneResult(const plan::Job&)>& search);

/// Returns the member `candidates` of `stepwright run JOB --json`.
nlohmann::ordered_json candidates_json(const PlansByRun& comparison);
/// Returns the member `endless` of `stepwright run JOB --json`: the plans whose runs would never
/// end.
nlohmann::ordered_json endless_json(const PlansByRun& comparison);

}  // namespace stepwright::whole_run
