#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "stepwright/cost/training_conditions.h"
#include "stepwright/memory/memory.h"
#include "stepwright/plan/job.h"
#include "stepwright/simulate/timeline/simulation.h"

namespace stepwright::tune {

/// The progress of a search.
struct TuneProgress {
  bool simulating = false;  ///< True: the search simulates plans; false: it prices them.
  std::size_t done = 0;     ///< Finished subtrees of the space; when simulating, finished plans.
  std::size_t most = 0;     ///< Upper limit of `done`; most searches end earlier.
  std::int64_t priced = 0;  ///< Plans priced so far.
};

/// Receives the progress of a search; called between rounds, by the thread that called `tune`.
using TellProgress = std::function<void(const TuneProgress&)>;

/// How a search runs: threads and progress reports. The answer does not depend on it.
struct SearchRunOptions {
  int threads = 1;
  TellProgress progress;  ///< Empty: progress is not reported.

  void tell(const TuneProgress& state) const {
    if (progress) progress(state);
  }
};

/// How to search. The answer does not depend on `threads`.
struct TuneOptions {
  int threads = 0;       ///< Threads of the search; 0: one per processor.
  std::size_t top = 10;  ///< Number of plans to return, best first.
  /// Prices every legal plan; in a space of at most 10,000 legal plans also simulates every plan
  /// that fits.
  bool exhaustive = false;
  TellProgress progress;                                 ///< Empty: progress is not reported.
  const cost::TrainingConditions* conditions = nullptr;  ///< nullptr: the job's own conditions.
  /// Tight plans that fit with this probability or more are searched, too; nullopt: only plans that
  /// fit are.
  std::optional<double> tight_from;
  bool only_fitting = false;  ///< True: the outcome is `EmptySpaceReason` where no plan fits.
  /// True: looks for the best plan only; the result has neither a gap nor a front, and fewer other
  /// plans.
  bool only_best = false;
};

/// Returns the number of threads of a search.
int thread_count(const TuneOptions& options);

/// Two plans of a job whose predicted step times differ by less than this share (of the faster one)
/// have an unknown order: such pairs of published runs came in the predicted order in fewer than
/// four of five (tools/accuracy/plan_order.py).
inline constexpr double kUndecidedStepDifference = 0.03;

/// A plan that was simulated.
struct TunedPlan {
  plan::Plan plan;
  double step_time_s = 0;    ///< Simulated time of a step.
  double price_s = 0;        ///< Closed-form time of a step.
  double lower_bound_s = 0;  ///< Lower bound: never above the simulated time.
  double upper_bound_s = 0;
  /// Part of `step_time_s` that ranks wait because micro-batches are unequal (`UnevenStepWaits`).
  double waits_s = 0;
  /// Peak bytes of a device, from the lifetimes of the program's tensors.
  double peak_memory_bytes = 0;
  bool fits = true;
  double p_fits = 1;  ///< Probability that the plan fits in memory.
  /// Whether it fits, is tight or does not fit; host memory counts, too.
  memory::FitVerdict verdict{};
  double over_by_bytes = 0;       ///< Bytes by which the plan exceeds the memory; 0 when it fits.
  std::string_view largest_part;  ///< Name of the largest part where it does not fit.
  /// True if its step time is within `kUndecidedStepDifference` of the best plan's.
  bool tied = false;
  simulate::Breakdown breakdown;  ///< Seconds of the critical stage, by kind.
  cost::StepInterval interval;    ///< 80 % interval of the step time, in shares of `step_time_s`.
  std::string lost;               ///< Why the winner is faster, in words; empty for the winner.
  std::int64_t operators = 0;     ///< Number of operators that its simulation executed.
};

/// Numbers of plans of the space by what became of them:
/// `total = legal + duplicates + all rejected`, `legal = priced + bounded`.
struct SpaceCounts {
  std::int64_t total = 0;  ///< Number of points of the product of all dimensions.
  /// Number of different legal plans, whether visited or ruled out by bounds.
  std::int64_t legal = 0;
  std::int64_t duplicates = 0;  ///< Legal points that give the same plan as another point.
  std::int64_t fitting = 0;     ///< Number of priced plans that fit in memory by their price.
  std::int64_t priced = 0;
  /// Legal plans that were never priced: a bound shows that they are too slow or too large.
  std::int64_t bounded = 0;
  std::int64_t simulated = 0;
};

/// Used as `Refusal::rule` for plans that the job's framework does not run.
inline constexpr std::string_view kFrameworkRule = "framework";

/// Plans refused for one reason.
struct Refusal {
  std::string rule;    ///< Name of the rule (`rule_name`), or `kFrameworkRule`.
  std::string reason;  ///< The demand of the rule, or the choices that the framework runs.
  std::int64_t count = 0;
};

/// The plan of the usual rule of thumb (`tune/baseline.h`), simulated.
struct Baseline {
  plan::Plan plan;
  double step_time_s = 0;
  double peak_memory_bytes = 0;
};

/// One point of the front of time against memory: no simulated plan is both faster and smaller.
struct ParetoPoint {
  plan::Plan plan;
  double step_time_s = 0;
  double peak_memory_bytes = 0;
};

/// Devices that the best plan leaves idle, and the step time if they were used.
struct IdleDevicesGain {
  /// Idle whole nodes: so many nodes may fail before the plan must shrink.
  std::int64_t nodes = 0;
  /// Idle devices of each node in use: so many devices of a node may fail.
  std::int64_t devices_of_node = 0;
  /// The step time of the best plan that uses all devices; nullopt where no such plan is legal and
  /// fits.
  std::optional<double> step_time_if_used_s;
};

struct TuneResult {
  /// The job as searched: its cluster has the devices that are used, or with the smallest-cluster
  /// objective the nodes found.
  plan::Job job;
  std::int64_t devices_idle = 0;  ///< Devices of the given cluster that the plans leave idle.
  /// Idle devices, and what they cost; nullopt: no device is idle.
  std::optional<IdleDevicesGain> spares;
  /// Best first; at least one. If no plan fits, the tight plans; if none is tight, only the plan
  /// that needs least memory.
  std::vector<TunedPlan> plans;
  /// Every plan that was simulated and fits, best first; if no plan fits, equal to `plans`.
  std::vector<TunedPlan> simulated;
  /// No legal plan that fits is faster than the best by more than this share of its time, according
  /// to bounds: 0 when proven optimal under the simulator.
  double optimality_gap = 0;
  SpaceCounts space;
  std::vector<Refusal> rejected;  ///< Refusals, most frequent first.
  /// The plan of the rule of thumb; nullopt: the rule finds none that fits.
  std::optional<Baseline> baseline;
  double speedup_over_baseline = 0;  ///< Baseline time / best time; 0 without a baseline.
  /// The front of time against memory, fastest first: the best plan, then ever smaller ones.
  std::vector<ParetoPoint> pareto;
  bool target_met = true;  ///< False only if the smallest-cluster objective misses its target.
  double seconds = 0;  ///< Wall clock of the search; as printed by `tune`, of the whole command.
  std::vector<std::string> notes;  ///< Remarks on the search, for people.
};

/// The outcome of a search that found no plan: no plan is legal or, with `only_fitting`, none fits.
struct EmptySpaceReason {
  /// The constraint that leaves no legal plan, and changes that would leave some.
  std::string reason;
};

/// The answer of a search: a result, or the reason why there is no plan.
using TuneOutcome = std::variant<TuneResult, EmptySpaceReason>;

/// Searches the job's space for the plan with the least step time under its objective
/// (docs/design.md): branch and bound, exact for the closed-form price, then simulation of the best
/// plans by price and of plans near the best one (`settle`, `search_locally`). A space of at most
/// 10,000 legal plans is proven: its first `top` plans are those that simulating every plan would
/// find. A dimension that the job does not list takes every value that can be legal, with these
/// exceptions: schedule: 1f1b and interleaved; layers: even, and as `balanced_split` deals them out
/// (counts take the two for one). `chunks` applies to interleaved schedules only, sharding groups
/// to strategies with a state I only. If no person has named the attention kernel, the fastest one
/// is used (`with_free_kernels`). Where no plan fits as surely as the job asks and some are tight,
/// searches again among plans that fit with a probability of 75 %, 50 % or 25 %, or are tight: the
/// first of these levels that the smallest plan reaches.
TuneOutcome try_tune(const plan::Job& job, const TuneOptions& options = {});

/// The fastest plans of a job, and the job that was searched.
struct FastPlans {
  plan::Job job;
  std::vector<TunedPlan> plans;  ///< Plans, best first; all of them fit.
};

/// Searches as `try_tune` does for plans that take less than `below_s`, on the job's own number of
/// nodes, without the work that proves and explains an answer. No plans: none was found.
FastPlans faster_plans(const plan::Job& job, double below_s, const TuneOptions& options = {});

/// Searches as `try_tune` does, but fails with `kInput`, saying why, when no plan of the space is
/// legal.
TuneResult tune(const plan::Job& job, const TuneOptions& options = {});

}  // namespace stepwright::tune
