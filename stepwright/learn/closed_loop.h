#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/learn/learnable.h"
#include "stepwright/learn/run_table.h"
#include "stepwright/tune/tune.h"

namespace stepwright::learn {

/// A plan with its expected step time, given a person's own runs.
struct RejudgedPlan {
  std::string id;  ///< Id of its row; empty: a search found the plan.
  plan::PlannedJob planned;
  double expected_s = 0;
  double low_s = 0;  ///< Lower bound of the 80 % interval of the step time; `high_s`: upper bound.
  double high_s = 0;
  double p_fits = 0;
  bool ran = false;  ///< True if a step of the plan was measured.
  /// Expected gain of measuring it: the share of the best step time that this is expected to save,
  /// less the cost of a failed start.
  double gain = 0;
};

/// A constant before any run (`before`), and after all runs (`now`).
struct LearnedConstant {
  LearnableConstant before, now;
};

/// A measured run, and the predictions of its step time.
struct RunWithPrediction {
  std::size_t line = 0;
  std::string id;
  double measured_s = 0;
  double before_s = 0;  ///< Step time predicted before any run.
  double now_s = 0;     ///< Seconds predicted with the constants learned from all runs.
};

/// The conclusions from a person's own runs of a job.
struct MeasuredRunsVerdict {
  std::optional<RejudgedPlan> best;  ///< The best plan; nullopt where no plan fits.
  std::vector<RejudgedPlan> next;    ///< Plans that are most worth measuring, best first.
  bool stop = false;  ///< True if no measurement is expected to gain a hundredth of a step.
  /// Number of runs that were measured, ran out of memory, or failed otherwise.
  std::size_t measured = 0, out_of_memory = 0, failed = 0;
  /// The measured runs, in file order.
  std::vector<RunWithPrediction> runs;
  std::vector<LearnedConstant> learned;
  /// The learned constants that moved step times against the direction of most runs.
  std::vector<LearnedConstant> contrary;
  std::vector<SkippedRun> skipped;  ///< Rows of the table of runs that were skipped.
  /// Rows of the table of candidates that were skipped.
  std::vector<SkippedRun> skipped_candidates;
};

struct LoopOptions {
  std::size_t next = 1;
  tune::TuneOptions tune;
};

/// Computes the posterior of a job after runs of it, and the plans to measure next. The prior is
/// the job's conditions with the widths of `Learnable`. Runs change constants of the model (rates
/// of computation and of messages, times of the host) that all plans share, so each run informs
/// about all plans. A plan's own deviation (`kPlanDeviation`) is learned only by measuring that
/// plan. `MemoryPosterior` learns from which runs ran out of memory; plans that failed for another
/// reason are not proposed again. A measurement is worth its expected improvement over the best
/// measured step (Jones, Schonlau and Welch 1998) times P(fits), less a hundredth of a step times
/// P(does not fit); measurements worth less than a hundredth are not proposed. If several plans are
/// asked for, they are chosen one after the other, each as if the ones before had come out as
/// expected.
///
/// Candidates are the rows of a table or, without one (null), the plans that a search finds with
/// the learned conditions and memory. Fails with `kInput` when no candidate has a plan, or when
/// `runs` has rows but none is a run of the job.
MeasuredRunsVerdict judge_measured_runs(const plan::Job& job, const MeasuredRuns& runs,
                                        const MeasuredRuns* candidates, const LoopOptions& options);

/// Returns the output of `stepwright tune --runs --json` (docs/formats.md).
nlohmann::ordered_json measured_runs_verdict_json(const MeasuredRunsVerdict& loop);

}  // namespace stepwright::learn
