#include "stepwright/tune/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <thread>
#include <tuple>
#include <utility>
#include <variant>

#include "stepwright/core/error.h"
#include "stepwright/core/format.h"
#include "stepwright/core/parallel.h"
#include "stepwright/memory/memory.h"
#include "stepwright/simulate/price/room.h"
#include "stepwright/tune/baseline.h"
#include "stepwright/tune/confirm.h"
#include "stepwright/tune/empty_space.h"
#include "stepwright/tune/fixed_cluster.h"
#include "stepwright/tune/frameworks.h"
#include "stepwright/tune/free_kernels.h"
#include "stepwright/tune/local_search.h"
#include "stepwright/tune/misfit.h"
#include "stepwright/tune/near_keys.h"
#include "stepwright/tune/neighbours.h"
#include "stepwright/tune/search.h"
#include "stepwright/tune/used_devices.h"
#include "stepwright/tune/why.h"

namespace stepwright::tune {
namespace {

/// Least number of plans kept by price; more are kept when too few of them turn out to fit.
constexpr std::size_t kKeep = 100;
constexpr std::size_t kKeepMore = 1000;
/// Number of plans kept by price where the answer is not proven.
constexpr std::size_t kKeepFaster = 30;
/// Plans whose memory is counted to find the one that needs least.
constexpr std::size_t kKeepSmallest = 32;
/// Spaces with at most this many legal plans are searched exhaustively: their answer is proven.
constexpr std::int64_t kSmallSpace = 10'000;
/// Most searches with less and less memory, when plans fit by their prices but not by their
/// programs.
constexpr int kMemoryTries = 3;
/// Most operators simulated before the local search from the best plan: about half a second on two
/// cores.
constexpr std::int64_t kMostOperators = 8'000'000;
/// Most operators simulated to narrow the optimality gap.
constexpr std::int64_t kMostToNarrow = 40'000'000;
/// Most points of the time-memory front that are simulated in addition to other plans.
constexpr std::size_t kFrontPoints = 16;
/// Plans slower than this multiple of the best time are not put on the front.
constexpr double kLongestOfFront = 2;

/// How far a plan's price may be above the wanted time, as a share: prices are that near to
/// simulated times.
constexpr double kPriceSlack = 0.01;
/// A limit of step times that excludes none.
constexpr double kAny = std::numeric_limits<double>::infinity();

class Tuning {
 public:
  Tuning(const plan::Job& job, const TuneOptions& options)
      : job_(job),
        options_(options),
        cost_(options.conditions == nullptr ? cost::CostModel(job)
                                            : cost::CostModel(job, *options.conditions)),
        space_(search_space_dimensions(job)),
        enumeration_(job, space_),
        small_(enumeration_.legal() <= kSmallSpace),
        running_{.threads = search_thread_count(options), .progress = options.progress},
        room_(room(job, options)),
        goal_{.room = room_,
              .keep = small_ ? static_cast<std::size_t>(2 * kSmallSpace) : kKeep,
              .exhaustive = options.exhaustive || small_,
              .bounds = !options.only_best},
        search_(job, cost_, enumeration_, prices_),
        found_(goal_.keep),
        evaluation_(job, cost_, running_, prices_, options.tight_from) {
    if (options.only_best) settled_ = 1;
  }

  TuneOutcome run() {
    if (enumeration_.legal() == 0)
      return EmptySearchSpaceReason{explain_empty_search_space(job_, enumeration_)};
    TuneResult result;
    result.job = job_;
    set_baseline(result);
    search(result);
    if (evaluation_.fitting() == 0 && options_.only_fitting)
      return EmptySearchSpaceReason{"no plan fits in memory"};
    if (evaluation_.fitting() == 0) {
      set_smallest(result);
    } else {
      SimulatedSchedulePrices prices(job_, cost_, prices_);
      near_ = improve_best_plan_by_local_search(evaluation_, prices, space_, goal_.room);
      if (options_.only_best) {
        set_plans(result, evaluation_.ranked_plans());
      } else {
        prove_and_explain(result, prices);
      }
    }
    set_counts(result);
    set_speedup(result);
    return result;
  }

  /// Finds plans that take less than `below_s`, best first, without proving or explaining them.
  std::vector<TunedPlan> faster(double below_s) {
    if (enumeration_.legal() == 0) return {};
    small_ = goal_.exhaustive = goal_.bounds = false;
    goal_.keep = kKeepFaster;
    settled_ = std::min(kMinPlansConfirmedBySimulation, options_.top);
    below_s_ = below_s;
    evaluation_.set_step_seconds_limit(below_s);
    TuneResult unused;
    set_baseline(unused);
    search(unused);
    if (kept_.empty() || evaluation_.nth_best_step_s() * (1 - kMaxClosedFormPriceError) >= below_s)
      return {};
    SimulatedSchedulePrices prices(job_, cost_, prices_);
    improve_best_plan_by_local_search(evaluation_, prices, space_, goal_.room);
    std::vector<TunedPlan> ranked_plans = evaluation_.ranked_plans();
    std::erase_if(ranked_plans,
                  [&](const TunedPlan& tuned) { return tuned.step_time_s >= below_s; });
    return ranked_plans;
  }

  /// False if bounds prove that no plan that fits takes `most_s` or less.
  bool may_take(double most_s) {
    SearchGoal goal = goal_;
    goal.keep = 1;
    goal.exhaustive = false;
    goal.bounds = true;
    goal.known = {.best = most_s, .last = most_s * (1 + kPriceSlack)};
    const SearchFindings found = search_.search_space_for_goal(goal, running_);
    double least_s = std::min(found.passed_bound_s, found.kept.min_lower_bound_of_dropped_plans());
    for (const std::vector<PlanCandidate>* left :
         {&found.kept.list(), &found.kept.undecided_candidates()}) {
      for (const PlanCandidate& one : *left) least_s = std::min(least_s, one.price.lower_bound_s);
    }
    return least_s <= most_s;
  }

 private:
  /// Keeps the best plans by price and simulates them.
  void attempt() {
    find();
    if (!small_) {
      reprice_candidates_by_schedule_simulation(evaluation_, kept_);
      open_bound_s_ = simulate_until_best_are_certain(evaluation_, kept_, settled_, kMostOperators);
    } else if (options_.exhaustive) {
      simulate_all();
    } else {
      prove();
    }
  }

  /// Keeps the best plans by price. Prices of plans near known plans limit the search from the
  /// start, except where `below_s_` limits it or more plans are kept than lie near.
  void find() {
    goal_.known = {};
    const bool knows = goal_.keep > kKeep || below_s_ < kAny || goal_.exhaustive || starts_.empty();
    const std::size_t tasks = knows ? 1 : 2;
    parallel_for(running_.threads, tasks, [&](std::size_t task) {
      if (task == 0) {
        search_.compute_lower_bounds_of_space();
      } else {
        goal_.known = min_keys_of_neighbour_plans(job_, cost_, space_, starts_, goal_, prices_);
      }
    });
    goal_.known.best = std::min(goal_.known.best, below_s_);
    goal_.known.last = std::min(goal_.known.last, below_s_ * (1 + kPriceSlack));
    goal_.known.fitting_s = fitting_s_;
    found_ = search_.search_space_for_goal(goal_, running_);
    kept_ = found_.kept.list();
    for (const PlanCandidate& candidate : kept_) starts_.push_back(candidate.plan);
  }

  /// Proves the best plan of a small space, all of whose plans were kept: simulates the best by
  /// price first, then every plan that bounds leave open.
  void prove() {
    const std::size_t most = wanted();
    const std::size_t first = std::min(most, kept_.size());
    simulate_until_best_are_certain(
        evaluation_, {kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(first)}, most,
        std::numeric_limits<std::int64_t>::max());
    const auto beaten = [&](const PlanCandidate& candidate) {
      return candidate.price.lower_bound_s > evaluation_.nth_best_step_s(most);
    };
    std::vector<PlanCandidate> open;
    std::ranges::copy_if(kept_, std::back_inserter(open), std::not_fn(beaten));
    reprice_candidates_by_schedule_simulation(evaluation_, open);
    prove_best_by_lower_bounds(evaluation_, open, most);
    open_bound_s_ = std::numeric_limits<double>::infinity();
  }

  void simulate_all() {
    std::vector<const PlanCandidate*> every;
    for (const PlanCandidate& candidate : kept_) every.push_back(&candidate);
    evaluation_.simulate_candidates(every);
    open_bound_s_ = std::numeric_limits<double>::infinity();
  }

  /// Searches, and searches again with more plans or less memory as long as too few of the kept
  /// plans turn out to fit.
  void search(TuneResult& result) {
    attempt();
    if (small_) return;
    if (evaluation_.plans_exceeding_memory().size() > goal_.keep / 2 &&
        kept_.size() == goal_.keep) {
      goal_.keep = kKeepMore;
      // The plans with the least prices mostly do not fit, so bounds must reach up to the fastest
      // plan that does.
      if (evaluation_.fitting() > 0) fitting_s_ = evaluation_.nth_best_step_s();
      attempt();
    }
    for (int i = 1; i < kMemoryTries && evaluation_.fitting() == 0; ++i) {
      if (evaluation_.plans_exceeding_memory().empty()) return;
      leave_less_room();
      result.notes.push_back(
          "The fastest plans fit in memory by the estimate, but not when every tensor was counted: "
          "the search ran again with less memory.");
      attempt();
    }
  }

  /// Returns the memory that plans may fill; on devices it depends on how tight `options` lets
  /// plans be.
  static simulate::AvailablePlanMemory room(const plan::Job& job, const TuneOptions& options) {
    simulate::AvailablePlanMemory room = simulate::plan_memory_limit(job);
    if (options.tight_from) {
      plan::Job tight = job;
      tight.objective.memory_confidence = *options.tight_from;
      room.device_bytes = memory::usable_memory_bytes(tight);
    }
    return room;
  }

  /// Reduces the memory to fill by as many bytes as the plan that was nearest to fitting lacked.
  void leave_less_room() {
    const TunedPlan& nearest = *std::ranges::min_element(evaluation_.plans_exceeding_memory(), {},
                                                         &TunedPlan::over_by_bytes);
    const auto lessen = [](double& room, double whole, double over) {
      room *= whole / (whole + over);
    };
    if (nearest.largest_part == memory::kHostMemoryPartName) {
      lessen(goal_.room.host_bytes, room_.host_bytes, nearest.over_by_bytes);
    } else {
      const double beyond = room_.device_bytes - memory::usable_memory_bytes(job_);
      lessen(goal_.room.device_bytes, room_.device_bytes,
             std::max(0.0, nearest.over_by_bytes - beyond));
    }
  }

  /// Looks again at plans whose bounds leave them open, whether kept by price or not.
  void narrow_gap() {
    if (small_) return;
    std::vector<PlanCandidate> open = found_.kept.undecided_candidates();
    std::ranges::copy(kept_, std::back_inserter(open));
    open_bound_s_ = tighten_lowest_candidate_bound(evaluation_, std::move(open), passed_bound_s(),
                                                   kMostToNarrow);
  }

  /// Returns the least lower bound of the plans that the search dropped for good.
  [[nodiscard]] double passed_bound_s() const {
    return std::min(found_.passed_bound_s, found_.kept.min_lower_bound_of_dropped_plans());
  }

  [[nodiscard]] std::size_t wanted() const {
    return std::max(options_.top, kMinPlansConfirmedBySimulation);
  }

  /// If more plans are asked for than are confirmed anyway, simulates those, too.
  void extend() {
    if (small_ || options_.top <= kMinPlansConfirmedBySimulation) return;
    if (options_.top > goal_.keep) {
      goal_.keep = options_.top;
      find();
      reprice_candidates_by_schedule_simulation(evaluation_, kept_);
    }
    simulate_until_best_are_certain(evaluation_, kept_, options_.top,
                                    std::numeric_limits<std::int64_t>::max());
  }

  /// Sets all of a result except its counts, once the best plan is found.
  void prove_and_explain(TuneResult& result, SimulatedSchedulePrices& prices) {
    extend();
    narrow_gap();
    explain_layers(result, prices);
    set_front(result);
    set_plans(result, evaluation_.ranked_plans());
    set_gap(result);
  }

  /// Simulates one plan in addition to the others.
  void try_plan(const plan::Plan& plan, const simulate::PlanPrice& price) {
    const PlanCandidate candidate{price.seconds, plan, price};
    const PlanCandidate* const one[] = {&candidate};
    evaluation_.simulate_candidates(one);
  }

  /// Explains the gain of giving the positions of embedding and head another number of layers.
  void explain_layers(TuneResult& result, SimulatedSchedulePrices& prices) {
    const TunedPlan best = evaluation_.ranked_plans().front();
    if (best.plan.layers.empty() || !job_.space.layers.empty()) return;
    plan::Plan even = best.plan;
    even.layers.clear();
    try_plan(even, prices.closed_form_price(even));
    const std::vector<TunedPlan> ranked_plans = evaluation_.ranked_plans();
    const auto found = std::ranges::find(ranked_plans, even, &TunedPlan::plan);
    const std::string gain =
        found == ranked_plans.end()
            ? "with even layers it does not fit in memory"
            : fmt::format("with even layers it takes {}, {} longer",
                          format_time(found->step_time_s),
                          format_percent(found->step_time_s / best.step_time_s - 1));
    result.notes.push_back(
        fmt::format("The best plan's chunks have {} layers (layers x chunks), so that the pipeline "
                    "position with the "
                    "head of the model has as much work as the others; {}.",
                    plan::layers_per_chunk_text(best.plan.layers), gain));
  }

  /// Where no plan fits, sets the result to the plan that needs least memory by its program. Closed
  /// forms are lower bounds of it.
  void set_smallest(TuneResult& result) {
    goal_.least_memory = true;
    goal_.room = simulate::plan_memory_limit(job_);
    goal_.exhaustive = options_.exhaustive;
    goal_.keep = kKeepSmallest;
    found_ = search_.search_space_for_goal(goal_, running_);
    TunedPlan tuned = evaluation_.plan_exceeding_memory_least(found_.kept.list());
    if (tuned.verdict == memory::MemoryFitVerdict::kDoesNotFit) {
      result.notes.push_back(memory_shortage_note(job_, tuned));
    }
    result.pareto = {{tuned.plan, tuned.step_time_s, tuned.peak_memory_bytes}};
    set_plans(result, {std::move(tuned)});
  }

  void set_plans(TuneResult& result, std::vector<TunedPlan> plans) const {
    const TunedPlan winner = plans.front();
    for (TunedPlan& plan : plans) {
      plan.tied = plan.step_time_s <= winner.step_time_s * (1 + kUncertainStepTimeDifference);
      plan.lost = reason_plan_is_slower(winner, plan);
    }
    result.simulated = std::move(plans);
    const std::size_t count =
        std::min(std::max<std::size_t>(1, options_.top), result.simulated.size());
    result.plans.assign(result.simulated.begin(),
                        result.simulated.begin() + static_cast<std::ptrdiff_t>(count));
  }

  void set_counts(TuneResult& result) const {
    SearchSpaceCounts& space = result.space;
    result.rejected = framework_refusals(space_, enumeration_);
    for (std::size_t i = 0; i < plan::kRules; ++i) {
      const std::int64_t count = enumeration_.refused()[i];
      const auto rule = static_cast<plan::PlanLegalityRule>(i);
      if (count > 0) {
        result.rejected.push_back({std::string(plan::plan_rule_name(rule)),
                                   std::string(plan::plan_rule_sentence(rule)), count});
      }
    }
    std::ranges::stable_sort(result.rejected, std::ranges::greater{}, &PlanRefusalCount::count);
    space.total = enumeration_.total();
    space.legal = enumeration_.legal();
    space.duplicates = enumeration_.duplicates();
    space.priced = found_.priced;
    space.fitting = found_.fitting;
    space.bounded = space.legal - space.priced;
    space.simulated = evaluation_.simulated();
  }

  void set_gap(TuneResult& result) const {
    const double best = result.plans.front().step_time_s;
    const double open = std::min(passed_bound_s(), open_bound_s_);
    result.optimality_gap = std::max(0.0, (best - open) / best);
  }

  /// Simulates plans that, by closed forms, may need less memory for more time; then keeps, of all
  /// simulated plans, those that no plan beats in both time and memory.
  void set_front(TuneResult& result) {
    std::vector<const PlanCandidate*> smaller;
    for (const PlanCandidate& candidate : kept_) smaller.push_back(&candidate);
    for (const PlanCandidate& candidate : near_) smaller.push_back(&candidate);
    std::ranges::stable_sort(smaller, {},
                             [](const PlanCandidate* one) { return one->price.seconds; });
    double least = std::numeric_limits<double>::infinity();
    const double longest_s = kLongestOfFront * evaluation_.nth_best_step_s();
    std::erase_if(smaller, [&](const PlanCandidate* one) {
      if (one->price.memory_bytes >= least || one->price.seconds > longest_s) return true;
      if (!evaluation_.fits(*one)) return true;
      least = one->price.memory_bytes;
      return false;
    });
    if (smaller.size() > kFrontPoints) {
      for (std::size_t i = 0; i < kFrontPoints; ++i) {
        smaller[i] = smaller[i * (smaller.size() - 1) / (kFrontPoints - 1)];
      }
      smaller.resize(kFrontPoints);
    }
    evaluation_.simulate_candidates(smaller);
    double bytes = std::numeric_limits<double>::infinity();
    for (const TunedPlan& plan : evaluation_.ranked_plans()) {
      if (plan.peak_memory_bytes >= bytes || plan.step_time_s > longest_s) continue;
      bytes = plan.peak_memory_bytes;
      result.pareto.push_back({plan.plan, plan.step_time_s, bytes});
    }
  }

  /// Simulates the plan of the rule of thumb first: where the space has it, the best plan is no
  /// slower.
  void set_baseline(TuneResult& result) {
    result.baseline = rule_of_thumb_plan(job_, cost_, simulate::plan_memory_limit(job_));
    if (!result.baseline) {
      result.notes.emplace_back(
          "The usual rule of thumb finds no plan that fits in memory, so there is no comparison "
          "with it.");
      return;
    }
    const plan::Plan& plan = result.baseline->plan;
    if (!is_in_search_space(job_, space_, plan)) return;
    starts_.push_back(plan);
    try_plan(plan, simulate::PlanPricer(job_, cost_, prices_).price(plan));
  }

  static void set_speedup(TuneResult& result) {
    if (!result.baseline) return;
    result.speedup_over_baseline = result.baseline->step_time_s / result.plans.front().step_time_s;
  }

  const plan::Job& job_;
  const TuneOptions& options_;
  cost::CostModel cost_;
  simulate::SharedPricerCaches prices_;  ///< Shared by the search and all that follows it.
  SearchSpaceDimensions space_;
  LegalPlanCounter enumeration_;
  /// True in a small space: every plan is priced, and simulated unless its bound rules it out.
  bool small_;
  SearchRunOptions running_;
  simulate::AvailablePlanMemory room_;
  SearchGoal goal_;
  std::size_t settled_ =
      kMinPlansConfirmedBySimulation;  ///< Number of best plans that are confirmed.
  double below_s_ = kAny;              ///< Only plans that take less time than this are looked for.
  /// Plans to start from: the rule of thumb's, where the space has it, and plans found so far.
  std::vector<plan::Plan> starts_;
  PlanSearch search_;
  SearchFindings found_;
  std::vector<PlanCandidate> kept_;  ///< Plans kept by the search, by price.
  PlanEvaluator evaluation_;
  /// Least step time of a plan that fits, as in `KnownPlanKeys`; 0: none is known.
  double fitting_s_ = 0;
  double open_bound_s_ = 0;  ///< Least lower bound of the plans kept and not simulated.
  std::vector<PlanCandidate> near_;
};

}  // namespace

int search_thread_count(const TuneOptions& options) {
  if (options.threads > 0) return options.threads;
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

TuneOutcome tune_on_cluster(const plan::Job& job, const TuneOptions& options) {
  return Tuning(job, options).run();
}

TuneOutcome tune_on_cluster_within_step_time(const plan::Job& job, double most_s,
                                             const TuneOptions& options) {
  TuneOptions fitting = options;
  fitting.only_fitting = true;
  Tuning tuning(job, fitting);
  if (!tuning.may_take(most_s)) {
    return EmptySearchSpaceReason{
        fmt::format("no plan that fits takes at most {}", format_time(most_s))};
  }
  return tuning.run();
}

namespace {

TuneOutcome tune_for_goal(const plan::Job& job, const TuneOptions& options) {
  return job.objective.kind == plan::TunerObjectiveKind::kSmallestCluster
             ? tune_smallest_cluster(job, options)
             : tune_on_cluster_parts(job, options);
}

/// True if an outcome is better than another outcome of the same job with other kernels: it has a
/// plan, the plan fits or is tight, it uses fewer devices where the job looks for the fewest, and
/// it takes less time.
bool is_better(const TuneOutcome& outcome, const TuneOutcome& other) {
  const auto* here = std::get_if<TuneResult>(&outcome);
  const auto* there = std::get_if<TuneResult>(&other);
  if (here == nullptr || there == nullptr) return here != nullptr;
  const auto rank = [](const TuneResult& result) {
    const bool smallest = result.job.objective.kind == plan::TunerObjectiveKind::kSmallestCluster;
    const TunedPlan& best = result.plans.front();
    return std::tuple(best.verdict, smallest ? result.job.cluster.devices() : 0, best.step_time_s);
  };
  return rank(*here) < rank(*there);
}

}  // namespace

std::vector<TunedPlan> faster_plans_on_cluster(const plan::Job& job, double below_s,
                                               const TuneOptions& options) {
  return Tuning(job, options).faster(below_s);
}

namespace {

/// Searches with the fastest attention kernel, where the job leaves it free, and also with the
/// job's own kernel where that may be better.
TuneOutcome tune_with_kernels(const plan::Job& job, const TuneOptions& options) {
  plan::Job chosen = with_fastest_attention_kernel(job);
  TuneOutcome outcome = tune_for_goal(chosen, options);
  if (chosen.kernels.attention != job.kernels.attention &&
      is_plan_limited_by_attention_kernel(chosen)) {
    TuneOutcome usual = tune_for_goal(job, options);
    if (is_better(usual, outcome)) {
      outcome = std::move(usual);
      chosen = job;
    }
  }
  if (auto* result = std::get_if<TuneResult>(&outcome)) {
    const std::string note = attention_kernel_choice_note(job, chosen);
    if (!note.empty()) result->notes.push_back(note);
  }
  return outcome;
}

/// Probabilities of fitting at which tight plans are searched, one step of risk apart.
constexpr double kTightSteps[] = {0.75, 0.5, 0.25};

/// Returns the probability from which tight plans are searched; nullopt: plans fit, or no plan is
/// tight.
std::optional<double> tight_from(const TuneOutcome& outcome) {
  const auto* result = std::get_if<TuneResult>(&outcome);
  if (result == nullptr) return std::nullopt;
  const TunedPlan& best = result->plans.front();
  if (best.verdict != memory::MemoryFitVerdict::kTight) return std::nullopt;
  for (const double step : kTightSteps) {
    if (best.p_fits >= step) return step;
  }
  return memory::min_probability_of_tight_fit(memory::memory_fit_confidence(result->job));
}

}  // namespace

TuneOutcome try_tune(const plan::Job& job, const TuneOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  TuneOutcome outcome = tune_with_kernels(job, options);
  if (const std::optional<double> from = tight_from(outcome); from && !options.tight_from) {
    TuneOptions riskier = options;
    riskier.tight_from = from;
    outcome = tune_with_kernels(job, riskier);
  }
  if (auto* result = std::get_if<TuneResult>(&outcome)) {
    result->seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  return outcome;
}

TuneResult tune(const plan::Job& job, const TuneOptions& options) {
  TuneOutcome outcome = try_tune(job, options);
  if (const auto* none = std::get_if<EmptySearchSpaceReason>(&outcome)) fail_input(none->reason);
  return std::get<TuneResult>(std::move(outcome));
}

}  // namespace stepwright::tune
