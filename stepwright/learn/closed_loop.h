#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/learn/learnable.h"
#include "stepwright/learn/run_table.h"
#include "stepwright/tune/tune.h"

namespace stepwright::learn {

/// A plan as it is believed to run after a person's own runs.
struct LoopPlan {
  std::string id;  ///< Id of its row; empty: a plan of the search.
  plan::PlannedJob planned;
  double expected_s = 0;
  double low_s = 0;  ///< Bounds of 80 %.
  double high_s = 0;
  double p_fits = 0;
  bool ran = false;  ///< True if its step was measured.
  /// The expected gain of measuring it: the share of the best step that this is expected to save,
  /// less what a failed start costs.
  double gain = 0;
};

/// A constant before any run and now.
struct LearnedConstant {
  LearnableConstant before, now;
};

/// A measured run, and what was predicted of its step.
struct LoopRun {
  std::size_t line = 0;
  std::string id;
  double measured_s = 0;
  double before_s = 0;  ///< Seconds predicted before any run.
  double now_s = 0;     ///< Seconds predicted with what all runs teach.
};

/// The verdict of a person's own runs of a job on its plans.
struct ClosedLoop {
  std::optional<LoopPlan> best;  ///< The best plan; nullopt where no plan fits.
  std::vector<LoopPlan> next;    ///< Plans whose measurement is worth most, first the most.
  bool stop = false;             ///< No measurement is expected to gain a hundredth.
  std::size_t measured = 0, out_of_memory = 0, failed = 0;  ///< Number of runs of each outcome.
  /// Runs that were measured, in file order.
  std::vector<LoopRun> runs;
  std::vector<LearnedConstant> learned;
  /// The constants, of those learned, that moved steps against what most runs say.
  std::vector<LearnedConstant> contrary;
  std::vector<SkippedRun> skipped;             ///< Rows of the runs that were skipped.
  std::vector<SkippedRun> skipped_candidates;  ///< Rows of the candidates that were skipped.
};

struct LoopOptions {
  std::size_t next = 1;
  tune::TuneOptions tune;
};

/// The posterior of a job after runs of it, and what to measure next. Before any run it is the
/// job's conditions with the widths of `Learnable`; runs teach it the model's own terms (rates of
/// computation and of messages, the host's times), which all plans share, so that each run tells of
/// all plans. A plan's own deviation (`kPlanDeviation`) is learned by measuring it alone. Runs that
/// ran out of memory or did not teach `MemoryPosterior`; those that failed for another reason are
/// not asked for again. A measurement is worth its expected improvement over the best measured step
/// (Jones, Schonlau and Welch 1998) times P(fits), less a hundredth of a step times P(does not
/// fit): what is worth less than that is not measured either. Several are chosen one after the
/// other, each as if those before had come out as expected.
///
/// Candidates are the rows of a table, or, without one, the plans that a search finds with the
/// conditions and the memory that the runs teach. Fails with `kInput` when no candidate has a plan,
/// and where rows were given of which none is a run of the job.
ClosedLoop close_loop(const plan::Job& job, const OwnRuns& runs, const OwnRuns* candidates,
                      const LoopOptions& options);

/// The answer of `stepwright tune --runs --json` (docs/formats.md).
nlohmann::ordered_json closed_loop_json(const ClosedLoop& loop);

}  // namespace stepwright::learn
