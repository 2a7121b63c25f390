#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "stepwright/tune/tune.h"
#include "stepwright/whole_run/whole_run.h"

namespace stepwright::whole_run {

/// A plan of a job and its predicted whole training run. Devices that the plan leaves idle are paid
/// for.
struct PlanWithTrainingRun {
  simulate::PlanPrediction prediction;
  IdleDevices idle;
  TrainingRunPrediction run;
};

/// A plan whose whole training run would never end, and the reason.
struct NeverEndingRun {
  plan::PlannedJob planned;
  double step_s = 0;
  std::string why;
};

/// The plans of a job, compared by the time of their whole training runs.
struct PlanRunComparison {
  /// Plans sorted by the time of their whole run, the shortest first; at least one.
  std::vector<PlanWithTrainingRun> candidates;
  std::size_t fastest_step = 0;  ///< Index in `candidates` of the plan with the shortest step.
  /// Plans whose whole runs would never end, in the order of the search.
  std::vector<NeverEndingRun> endless;
};

/// Compares the whole training runs of a job's best plans. If the job states a repair time, or if
/// no run on all nodes would end, also tries N-1, N-2, ... nodes, with the other nodes as spares,
/// as long as the run gets shorter. Fails with `kRuntime` if no plan fits, and with `kInput` if no
/// run would end.
PlanRunComparison compare_plans_by_run(
    const plan::Job& job, const std::function<tune::TuneResult(const plan::Job&)>& search);

/// Returns the JSON value of the key `candidates` of `stepwright run JOB --json`: plans with their
/// whole runs.
nlohmann::ordered_json run_candidates_json(const PlanRunComparison& comparison);
/// Returns the JSON value of the key `endless` of `stepwright run JOB --json`: plans whose runs
/// would never end.
nlohmann::ordered_json never_ending_runs_json(const PlanRunComparison& comparison);

}  // namespace stepwright::whole_run
