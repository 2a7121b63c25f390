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

/// How far a search is.
struct TuneProgress {
  bool simulating = false;  ///< False: it prices plans.
  std::size_t done = 0;     ///< Subtrees of the space; when simulating, plans.
  std::size_t most = 0;     ///< There can be no more; most searches end earlier.
  std::int64_t priced = 0;  ///< Plans priced so far.
};

/// Called between rounds, by the thread that called `tune`.
using TellProgress = std::function<void(const TuneProgress&)>;

/// How a search runs, which changes nothing in its answer.
struct Running {
  int threads = 1;
  TellProgress progress;  ///< Empty: nobody is told.

  void tell(const TuneProgress& state) const {
    if (progress) progress(state);
  }
};

/// How to search. The answer does not depend on `threads`.
struct TuneOptions {
  int threads = 0;       ///< 0: one per processor.
  std::size_t top = 10;  ///< Plans to return, best first.
  /// Prices every legal plan; in a space of at most 10,000 simulates every one that fits.
  bool exhaustive = false;
  TellProgress progress;                                 ///< Empty: nobody is told.
  const cost::TrainingConditions* conditions = nullptr;  ///< nullptr: those of the job.
  /// Tight plans that fit with this probability or more are searched, too; nullopt: only plans that
  /// fit are.
  std::optional<double> tight_from;
  bool only_fitting = false;  ///< Where no plan fits, the outcome is `NoPlan`.
  /// Looks for the best plan alone: the result has neither a gap nor a front, and fewer other
  /// plans.
  bool only_best = false;
};

/// The threads of a search.
int thread_count(const TuneOptions& options);

/// Predicted difference of two plans for one job, of the faster step, below which their order is
/// not known: such pairs of published runs came in the predicted order in fewer than four of five
/// (tools/accuracy/plan_order.py).
inline constexpr double kOrderUnknown = 0.03;

/// A plan that was simulated.
struct TunedPlan {
  plan::Plan plan;
  double step_time_s = 0;    ///< Simulated time of a step.
  double price_s = 0;        ///< Closed form of a step.
  double lower_bound_s = 0;  ///< Never above the simulated time.
  double upper_bound_s = 0;
  double waits_s = 0;            ///< Part of `step_time_s` for unequal micro-batches (`Uneven`).
  double peak_memory_bytes = 0;  ///< From the program's lifetimes.
  bool fits = true;
  double p_fits = 1;              ///< Probability that it fits.
  memory::FitVerdict verdict{};   ///< Beside `fits`; of hosts, too.
  double over_by_bytes = 0;       ///< 0 when it fits.
  std::string_view largest_part;  ///< Name of the largest part where it does not fit.
  bool tied = false;              ///< Within `kOrderUnknown` of the best.
  simulate::Breakdown breakdown;  ///< Seconds of the critical stage, by kind.
  cost::StepInterval interval;    ///< Interval of 80 %, in shares of `step_time_s`.
  std::string lost;               ///< Why the winner is faster, in words; empty for the winner.
  std::int64_t operators = 0;     ///< That its simulation played.
};

/// How many plans of the space met which fate:
/// `total = legal + duplicates + all rejected`, `legal = priced + bounded`.
struct SpaceCounts {
  std::int64_t total = 0;       ///< Points of the product of all dimensions.
  std::int64_t legal = 0;       ///< Different legal plans, whether visited or bounded away.
  std::int64_t duplicates = 0;  ///< Legal points that are another point's plan.
  std::int64_t fitting = 0;     ///< Priced plans that fit in memory by their price.
  std::int64_t priced = 0;
  std::int64_t bounded = 0;  ///< Legal, never priced: too slow or too large by a bound.
  std::int64_t simulated = 0;
};

/// The word that stands in place of a rule: plans that the job's framework does not run.
inline constexpr std::string_view kFrameworkRule = "framework";

/// Plans refused for one reason.
struct Refusal {
  std::string rule;    ///< Name of a rule (`rule_name`), or `kFrameworkRule`.
  std::string reason;  ///< Demand of the rule, or the words that the framework runs.
  std::int64_t count = 0;
};

/// The usual rule of thumb (`tune/baseline.h`), simulated.
struct Baseline {
  plan::Plan plan;
  double step_time_s = 0;
  double peak_memory_bytes = 0;
};

/// One point of the front of time against memory: nothing simulated is both faster and smaller.
struct FrontPoint {
  plan::Plan plan;
  double step_time_s = 0;
  double peak_memory_bytes = 0;
};

/// The worth of devices that stand idle.
struct Spares {
  std::int64_t nodes = 0;            ///< Whole ones: so many may fail before the plan must shrink.
  std::int64_t devices_of_node = 0;  ///< Spares of each node in use: so many may fail.
  /// The step time of the best plan that uses all devices; nothing where none is legal and fits.
  std::optional<double> step_time_if_used_s;
};

struct TuneResult {
  /// The job as searched: its cluster has the devices that are used, or with the smallest-cluster
  /// objective the nodes found.
  plan::Job job;
  std::int64_t devices_idle = 0;  ///< Idle devices of the cluster asked about.
  std::optional<Spares> spares;   ///< Where devices are idle.
  /// Best first, at least one. Where none fits, the tight ones; where none is tight, the smallest
  /// alone.
  std::vector<TunedPlan> plans;
  /// Every plan that was simulated and fits, best first; where none fits, as `plans`.
  std::vector<TunedPlan> simulated;
  /// No legal plan that fits is faster than the best by more than this share of its time, according
  /// to bounds: 0 when proven optimal under the simulator.
  double optimality_gap = 0;
  SpaceCounts space;
  std::vector<Refusal> rejected;     ///< Refusals, most frequent first.
  std::optional<Baseline> baseline;  ///< nullopt: the rule finds no plan that fits.
  double speedup_over_baseline = 0;  ///< Baseline time / best time; 0 without a baseline.
  std::vector<FrontPoint> pareto;    ///< Fastest first: the best plan, then smaller ones.
  bool target_met = true;            ///< Only the smallest-cluster objective can miss.
  double seconds = 0;  ///< Wall clock of the search; as printed by `tune`, of the whole command.
  std::vector<std::string> notes;  ///< Remarks on the search, for people.
};

/// A space that has no legal plan; with `only_fitting`, none that fits.
struct NoPlan {
  std::string reason;  ///< Which constraint empties it, and what would leave legal plans.
};

/// The answer of a search, or that there is none.
using TuneOutcome = std::variant<TuneResult, NoPlan>;

/// Searches the job's space for the plan with the least step time under its objective
/// (docs/design.md): branch and bound, exact for the closed-form price, then simulation of the best
/// by price and of what is near the best of them (`settle`, `search_locally`). A space of at most
/// 10,000 legal plans is proven: its first `top` are those of simulating every plan. Free
/// dimensions take every value that can be legal; schedule: 1f1b and interleaved; layers: even, and
/// as `balanced_split` deals them out, which the counts take for one. `chunks` speaks of
/// interleaved schedules only, sharding groups of strategies with a state I only. A kernel of
/// attention that no person has named is the fastest there is (`with_free_kernels`). Where no plan
/// fits as surely as the job asks and some are tight, searches again among plans that fit with 75
/// %, 50 % or 25 %, or are tight: the first of these that the smallest plan reaches.
TuneOutcome try_tune(const plan::Job& job, const TuneOptions& options = {});

/// The fastest plans of a job, with the job as searched.
struct FastPlans {
  plan::Job job;
  std::vector<TunedPlan> plans;  ///< Best first; all fit.
};

/// Searches as `try_tune` for plans that take less than `below_s`, on the nodes of the cluster that
/// are there, and leaves out what proves and explains an answer. No plan: none was found.
FastPlans faster_plans(const plan::Job& job, double below_s, const TuneOptions& options = {});

/// Searches as `try_tune`. Fails with `kInput` when no plan of the space is legal, saying why.
TuneResult tune(const plan::Job& job, const TuneOptions& options = {});

}  // namespace stepwright::tune
