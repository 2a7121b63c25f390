#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/learn/learnable_constants.h"
#include "stepwright/learn/run_table.h"
#include "stepwright/tune/tune.h"

namespace stepwright::learn {

/// A plan with its expected step time after learning from a user's measured runs.
struct PlanWithExpectedTime {
  /// Id of the plan's row in the table of candidates; empty: a search found the plan.
  std::string id;
  plan::PlannedJob planned;
  double expected_s = 0;
  /// 80 % interval of the plan's step time in seconds, from `low_s` to `high_s`.
  double low_s = 0;
  double high_s = 0;
  double p_fits = 0;
  bool ran = false;  ///< True if the user has measured this plan's step time.
  /// Expected gain from measuring this plan: the expected saving as a share of the best step time,
  /// minus the cost of a start that may run out of memory.
  double gain = 0;
};

/// A constant of the cost model that was learned from runs: its value before any run (`before`),
/// and after all runs (`now`).
struct LearnedConstant {
  LearnableConstant before, now;
};

/// A measured run, and the predictions of its step time.
struct RunWithPrediction {
  std::size_t line = 0;
  std::string id;
  double measured_s = 0;
  double before_s = 0;  ///< Step time in seconds predicted before learning from any run.
  double now_s = 0;  ///< Step time in seconds predicted with the constants learned from all runs.
};

/// The conclusions from a user's measured runs of a job: the best plan, and which plans to measure
/// next.
struct MeasuredRunsVerdict {
  /// Plan with the best expected step time; nullopt: no plan fits.
  std::optional<PlanWithExpectedTime> best;
  std::vector<PlanWithExpectedTime>
      next;  ///< Plans to measure next, the one most worth measuring first.
  /// True if measuring is no longer worthwhile: no plan is expected to gain 1 % of a step.
  bool stop = false;
  /// Numbers of runs that have a step time, that ran out of memory, and that failed otherwise.
  std::size_t measured = 0, out_of_memory = 0, failed = 0;
  /// The measured runs, in file order.
  std::vector<RunWithPrediction> runs;
  std::vector<LearnedConstant> learned;
  /// Learned constants that changed predictions in the opposite direction of most measurements.
  std::vector<LearnedConstant> contrary;
  std::vector<SkippedRunRow>
      skipped;  ///< Rows of the table of runs that were ignored, with reasons.
  /// Rows of the table of candidate plans that were ignored, with reasons.
  std::vector<SkippedRunRow> skipped_candidates;
};

struct LoopOptions {
  std::size_t next = 1;
  tune::TuneOptions tune;
};

/// Learns from a user's measured runs of a job and proposes plans to measure next. Each run updates
/// constants that all plans share (Bayesian), the deviation of its own plan, and the memory error.
/// A plan is worth measuring for its expected improvement (Jones, Schonlau and Welch 1998) times
/// P(fits), minus 1 % of a step times P(does not fit), if that is at least 1 %; several plans are
/// chosen one after the other, as if the ones before had come out as expected.
/// `candidates`: plans to choose from; null: plans found by a search with the learned constants.
/// Fails with `kInput` if no candidate has a plan, or if `runs` has rows but none is a run of the
/// job.
MeasuredRunsVerdict suggest_plans_to_measure(const plan::Job& job, const MeasuredRunTable& runs,
                                             const MeasuredRunTable* candidates,
                                             const LoopOptions& options);

/// Returns the JSON document that `stepwright tune --runs --json` prints (docs/formats.md).
nlohmann::ordered_json measured_runs_verdict_json(const MeasuredRunsVerdict& loop);

}  // namespace stepwright::learn
