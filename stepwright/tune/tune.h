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

/// Progress of a search, for display.
struct TuneProgress {
  bool simulating = false;  ///< True: the search simulates plans; false: it prices them.
  /// Number of finished parts of the search space; while simulating, of finished plans.
  std::size_t done = 0;
  /// Upper limit of `done`, for a progress bar; most searches end before they reach it.
  std::size_t most = 0;
  std::int64_t priced = 0;  ///< Number of plans for which a closed-form price was computed so far.
};

/// Callback that receives the progress of a search; called between rounds, on the thread that
/// called `tune`.
using SearchProgressCallback = std::function<void(const TuneProgress&)>;

/// How a search runs: number of threads and progress reports. The search's answer does not depend
/// on these options.
struct SearchRunOptions {
  int threads = 1;
  SearchProgressCallback
      progress;  ///< Callback for progress reports; empty: progress is not reported.

  void tell(const TuneProgress& state) const {
    if (progress) progress(state);
  }
};

/// Options of a search. The answer does not depend on `threads`.
struct TuneOptions {
  int threads = 0;       ///< Number of threads of the search; 0: one per processor.
  std::size_t top = 10;  ///< Number of plans to return, best first.
  /// True: prices every legal plan; in a space of at most 10,000 legal plans also simulates every
  /// plan that fits.
  bool exhaustive = false;
  SearchProgressCallback
      progress;  ///< Callback for progress reports; empty: progress is not reported.
  /// Fitted constants of training runs with which times are predicted; nullptr: those that the job
  /// names, else the built-in ones.
  const cost::TrainingConditions* conditions = nullptr;
  /// Least probability of fitting in memory from which tight plans (which may fit, but less
  /// probably than requested) are searched, too; nullopt: only plans that fit are searched.
  std::optional<double> tight_from;
  /// True: the outcome is `EmptySearchSpaceReason` if no plan fits in memory.
  bool only_fitting = false;
  /// True: looks for the best plan only. The result then has no optimality gap, no Pareto front,
  /// and fewer other plans.
  bool only_best = false;
};

/// Returns the number of threads on which a search with these options runs.
int search_thread_count(const TuneOptions& options);

/// Share of the faster step time below which the order of two predicted plans of a job is
/// uncertain: pairs of published runs this close came in the predicted order in fewer than four of
/// five cases (tools/accuracy/plan_order.py).
inline constexpr double kUncertainStepTimeDifference = 0.03;

/// A simulated plan with its predicted time and memory.
struct TunedPlan {
  plan::Plan plan;
  double step_time_s = 0;    ///< Simulated seconds of a step.
  double price_s = 0;        ///< Closed-form seconds of a step.
  double lower_bound_s = 0;  ///< Lower bound of the simulated step time, in seconds.
  double upper_bound_s = 0;
  /// Seconds of `step_time_s` during which ranks wait because their micro-batches have unequal work
  /// (`UnevenMicroBatchWaits`).
  double waits_s = 0;
  /// Peak memory of a device in bytes, from the lifetimes of the tensors of the step program.
  double peak_memory_bytes = 0;
  bool fits = true;
  double p_fits = 1;  ///< Probability that the plan fits in memory.
  /// Whether the plan fits in device and host memory, is tight (it may fit, with less than the
  /// requested probability), or does not fit.
  memory::MemoryFitVerdict verdict{};
  /// Bytes by which the plan exceeds the memory of a device; 0 if it fits.
  double over_by_bytes = 0;
  /// Name of the largest part of the memory, if the plan does not fit.
  std::string_view largest_part;
  /// True if the plan's step time is so close to the best plan's that their order is uncertain
  /// (`kUncertainStepTimeDifference`).
  bool tied = false;
  /// Seconds of the critical pipeline stage by kind (computation, exposed communication, bubble
  /// ...).
  simulate::StageTimeBreakdown breakdown;
  /// 80 % confidence interval of the step time, as shares of `step_time_s`.
  cost::StepTimeRatioInterval interval;
  /// Why the best plan is faster than this one, in words; empty for the best plan.
  std::string lost;
  std::int64_t operators = 0;  ///< Number of operators that the simulation of this plan executed.
};

/// Number of plans of the search space, by what became of them: `total = legal + duplicates + all
/// rejected`, `legal = priced + bounded`.
struct SearchSpaceCounts {
  std::int64_t total = 0;  ///< Number of combinations of all values of all dimensions.
  /// Number of different legal plans, priced or skipped because of a lower bound.
  std::int64_t legal = 0;
  /// Number of legal combinations that describe the same plan as another combination.
  std::int64_t duplicates = 0;
  /// Number of priced plans that fit in memory, judged by their closed-form price.
  std::int64_t fitting = 0;
  std::int64_t priced = 0;
  /// Number of legal plans that were never priced, because a lower bound shows that they are too
  /// slow or too large.
  std::int64_t bounded = 0;
  std::int64_t simulated = 0;
};

/// Value of `PlanRefusalCount::rule` for plans that the job's framework does not run.
inline constexpr std::string_view kUnsupportedByFrameworkRule = "framework";

/// Number of plans that were refused for one reason.
struct PlanRefusalCount {
  std::string rule;  ///< Name of the rule that the plans break, or `kUnsupportedByFrameworkRule`.
  /// The demand of the rule that the plans break, or the choices that the framework runs.
  std::string reason;
  std::int64_t count = 0;
};

/// The simulated plan that an expert would choose by a rule of thumb (`tune/baseline.h`), for
/// comparison.
struct BaselinePlan {
  plan::Plan plan;
  double step_time_s = 0;
  double peak_memory_bytes = 0;
};

/// One point of the Pareto front of step time against memory: no simulated plan is both faster and
/// smaller.
struct ParetoPoint {
  plan::Plan plan;
  double step_time_s = 0;
  double peak_memory_bytes = 0;
};

/// Devices that the best plan leaves idle, and the step time that using them would give.
struct IdleDevicesGain {
  /// Number of whole idle nodes: as many nodes may fail before the plan must shrink.
  std::int64_t nodes = 0;
  /// Number of idle devices of each used node: as many devices of a node may fail before the plan
  /// must shrink.
  std::int64_t devices_of_node = 0;
  /// Step time in seconds of the best plan that uses all devices; nullopt if no such plan is legal
  /// and fits.
  std::optional<double> step_time_if_used_s;
};

struct TuneResult {
  /// The job that was searched. Its cluster has only the devices that the plans use, or the number
  /// of nodes that the smallest-cluster objective found.
  plan::Job job;
  /// Number of devices of the given cluster that the plans leave idle.
  std::int64_t devices_idle = 0;
  /// The idle devices, and the step time if they were used; nullopt: no device is idle.
  std::optional<IdleDevicesGain> spares;
  /// The best plans, best first; at least one. If no plan fits in memory: the tight plans (which
  /// may fit, but less probably than requested); if none is tight: only the plan that needs least
  /// memory.
  std::vector<TunedPlan> plans;
  /// Every plan that was simulated and fits in memory, best first; equal to `plans` if no plan
  /// fits.
  std::vector<TunedPlan> simulated;
  /// Largest share of the best plan's step time that any other legal plan that fits could save, by
  /// lower bounds; 0: proven optimal under the simulator.
  double optimality_gap = 0;
  SearchSpaceCounts space;
  std::vector<PlanRefusalCount>
      rejected;  ///< Numbers of refused plans by reason, most frequent first.
  /// The plan that an expert would choose by a rule of thumb; nullopt: no such plan fits.
  std::optional<BaselinePlan> baseline;
  /// Step time of the rule-of-thumb plan over that of the best plan; 0 without a rule-of-thumb
  /// plan.
  double speedup_over_baseline = 0;
  /// Pareto front of step time against memory, fastest first: the best plan, then slower plans with
  /// ever less memory.
  std::vector<ParetoPoint> pareto;
  /// False only if even all nodes miss the step time or run time that the smallest-cluster
  /// objective demands.
  bool target_met = true;
  /// Wall-clock seconds of the search; as printed by `tune`, of the whole command.
  double seconds = 0;
  std::vector<std::string> notes;  ///< Remarks on the search for users.
};

/// Why a search found no plan: no plan is legal or, with `only_fitting`, none fits in memory.
struct EmptySearchSpaceReason {
  /// The rule that leaves no legal plan, and changes that would leave some, as text for users.
  std::string reason;
};

/// The answer of a search: a result, or the reason why there is no plan.
using TuneOutcome = std::variant<TuneResult, EmptySearchSpaceReason>;

/// Searches the job's space for the plan with the least step time under its objective
/// (docs/design.md): branch and bound, exact for the closed-form price, then simulation of the best
/// plans by price and of plans near the best one. A space of at most 10,000 legal plans is proven:
/// its first `top` plans are those that simulating every plan would find. A dimension that the job
/// does not list takes every value that can be legal, except: schedule: 1f1b and interleaved;
/// layers: even, and balanced by work (counts take the two for one). `chunks` applies to
/// interleaved schedules only, sharding groups only to strategies that shard some states inside
/// groups (I). If no user has named the attention kernel, the fastest one is used
/// (`with_fastest_attention_kernel`). If no plan fits as surely as the job asks and some are tight
/// (may fit), searches again among plans that fit with a probability of 75 %, 50 % or 25 %, or are
/// tight: the first of these levels that the smallest plan reaches.
TuneOutcome try_tune(const plan::Job& job, const TuneOptions& options = {});

/// Plans of a job that are faster than a given time, and the job that was searched.
struct FasterPlans {
  plan::Job job;
  std::vector<TunedPlan> plans;  ///< Plans that fit in memory, best first.
};

/// Searches for plans that take less than `below_s` seconds per step, on the job's own number of
/// nodes, without the work that proves and explains an answer. An empty list: none was found.
FasterPlans find_faster_plans(const plan::Job& job, double below_s,
                              const TuneOptions& options = {});

/// Searches a job's space for the plan with the least step time, as `try_tune` does, but fails with
/// `kInput` and the reason if no plan is legal.
TuneResult tune(const plan::Job& job, const TuneOptions& options = {});

}  // namespace stepwright::tune
