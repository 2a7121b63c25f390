#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "stepwright/cost/cost_model.h"
#include "stepwright/simulate/price/price_store.h"
#include "stepwright/tune/best_plans.h"
#include "stepwright/tune/tune.h"

namespace stepwright::tune {

/// Simulates one plan, and computes its memory from the tensors of its step program.
TunedPlan simulate_plan(const plan::Job& job, const cost::CostModel& cost, const plan::Plan& plan,
                        const simulate::PlanPrice& price);

/// Simulates plans of a job, each plan once, and keeps the results. The results do not depend on
/// the order in which plans are passed or on the number of threads; only `operators` does.
class PlanEvaluator {
 public:
  /// All arguments except `prices` must outlive this object. `tight_from`: least
  /// probability of fitting in memory from which plans that only may fit ("tight") count as
  /// fitting; nullopt: none does.
  PlanEvaluator(const plan::Job& job, const cost::CostModel& cost, const SearchRunOptions& running,
                const simulate::SharedPricerCaches& prices = {},
                std::optional<double> tight_from = {})
      : job_(job), cost_(cost), running_(running), prices_(prices), tight_from_(tight_from) {}

  /// Simulates candidates in parallel, except those with a known result. The memory of each
  /// candidate is computed first; one that does not fit is not simulated.
  void simulate_candidates(std::span<const PlanCandidate* const> candidates);

  /// Adds the result of a plan that fits in memory and that another evaluator simulated, so that it
  /// is ranked with the others.
  void add_simulated_plan(const TunedPlan& simulated);

  /// True if the step program of a candidate fits in memory. The program of a fitting candidate is
  /// kept until it is simulated.
  bool fits(const PlanCandidate& candidate);
  /// Returns the candidates that fit in memory, computing the memory of all of them in parallel.
  std::vector<const PlanCandidate*> candidates_fitting_memory(
      std::span<const PlanCandidate* const> candidates);

  /// Returns the plan that exceeds the device memory least (within 2 %), simulated. Chooses among
  /// `candidates`, in ascending order of closed-form memory, and the plans found too large before;
  /// there must be at least one plan.
  [[nodiscard]] TunedPlan plan_exceeding_memory_least(
      std::span<const PlanCandidate> candidates) const;

  [[nodiscard]] const plan::Job& job() const { return job_; }
  [[nodiscard]] const cost::CostModel& cost() const { return cost_; }
  /// Returns the stored closed-form prices, for use by other pricers of plans of this job.
  [[nodiscard]] const simulate::SharedPricerCaches& shared_price_caches() const { return prices_; }
  [[nodiscard]] int threads() const { return running_.threads; }
  [[nodiscard]] bool knows(const PlanCandidate& candidate) const {
    return known_.contains(candidate.plan);
  }
  /// Returns the step time in seconds of the n-th best simulated plan that fits, n from 1; infinite
  /// if fewer fit.
  [[nodiscard]] double nth_best_step_s(std::size_t n = 1) const;
  /// Limits the search to plans that take less than `seconds` for a step.
  void set_step_seconds_limit(double seconds) { below_s_ = seconds; }
  /// Returns the step time in seconds below which a plan is among the best n: that of the n-th best
  /// simulated plan, or the limit set by `set_step_seconds_limit` if that is less.
  [[nodiscard]] double step_seconds_to_beat(std::size_t n) const {
    return std::min(nth_best_step_s(n), below_s_);
  }
  /// Returns the simulated plans that fit in memory, best first; equal times are ordered by plan.
  [[nodiscard]] std::vector<TunedPlan> ranked_plans() const;
  [[nodiscard]] std::size_t fitting() const { return times_.size(); }
  /// Returns the plans that do not fit in memory: they have a memory report, but were not
  /// simulated.
  [[nodiscard]] const std::vector<TunedPlan>& plans_exceeding_memory() const { return too_large_; }
  [[nodiscard]] std::int64_t simulated() const { return simulated_; }
  /// Returns the number of operators that all simulations together executed.
  [[nodiscard]] std::int64_t simulated_operator_count() const { return operators_; }

 private:
  /// A plan with its step program and memory report, ready to be simulated.
  struct PlanWithMemoryReport {
    step::StepProgram program;
    TunedPlan tuned;
  };
  [[nodiscard]] PlanWithMemoryReport account(const PlanCandidate& candidate) const;
  bool keep(const PlanCandidate& candidate, PlanWithMemoryReport accounted);
  /// True if a plan shall be simulated: it fits, or it is tight (only may fit) with at least the
  /// probability `tight_from_`.
  [[nodiscard]] bool is_worth_simulating(const TunedPlan& tuned) const;

  const plan::Job& job_;
  const cost::CostModel& cost_;
  const SearchRunOptions& running_;
  simulate::SharedPricerCaches prices_;
  std::optional<double> tight_from_;
  double below_s_ = std::numeric_limits<double>::infinity();
  /// Result of each simulated plan; nullopt: the plan was not simulated, since it does not fit in
  /// memory.
  std::map<plan::Plan, std::optional<TunedPlan>> known_;
  /// Plans that fit in memory and are not simulated yet.
  std::map<plan::Plan, PlanWithMemoryReport> waiting_;
  /// Step times in seconds of the simulated plans that fit, ascending.
  std::vector<double> times_;
  std::vector<TunedPlan> too_large_;
  std::int64_t simulated_ = 0;
  std::int64_t operators_ = 0;
};

}  // namespace stepwright::tune
