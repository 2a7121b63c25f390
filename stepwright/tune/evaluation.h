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

/// Simulates one plan; its memory is counted from its program.
TunedPlan simulate_plan(const plan::Job& job, const cost::CostModel& cost, const plan::Plan& plan,
                        const simulate::Price& price);

/// The results of simulating plans of a job, each plan once. The order in which plans are passed
/// and the number of threads change only `operators`.
class Evaluation {
 public:
  /// All arguments but `prices` must outlive it. `tight_from`: as in `TuneOptions`; if set, plans
  /// that are tight from this probability on count as fitting.
  Evaluation(const plan::Job& job, const cost::CostModel& cost, const SearchRunOptions& running,
             const simulate::PriceStore& prices = {}, std::optional<double> tight_from = {})
      : job_(job), cost_(cost), running_(running), prices_(prices), tight_from_(tight_from) {}

  /// Simulates candidates in parallel, except those already known. The memory of each is counted
  /// first; one that does not fit is not simulated.
  void run(std::span<const PlanCandidate* const> candidates);

  /// Records the result of a plan that fits and was simulated elsewhere.
  void take(const TunedPlan& simulated);

  /// True if a candidate fits by the memory of its program, which is kept until the candidate is
  /// simulated.
  bool fits(const PlanCandidate& candidate);
  /// Returns the candidates that fit; their memory is counted in parallel.
  std::vector<const PlanCandidate*> candidates_that_fit(
      std::span<const PlanCandidate* const> candidates);

  /// Simulates the plan that exceeds the memory least (within 2 %), among `candidates`, least
  /// memory by the closed form first, and the plans that were too large before. At least one of
  /// both must exist.
  [[nodiscard]] TunedPlan smallest(std::span<const PlanCandidate> candidates) const;

  [[nodiscard]] const plan::Job& job() const { return job_; }
  [[nodiscard]] const cost::CostModel& cost() const { return cost_; }
  /// Stored prices, for other pricers of plans of the same job.
  [[nodiscard]] const simulate::PriceStore& prices() const { return prices_; }
  [[nodiscard]] int threads() const { return running_.threads; }
  [[nodiscard]] bool knows(const PlanCandidate& candidate) const {
    return known_.contains(candidate.plan);
  }
  /// Returns the step time of the n-th best plan that fits, n from 1; infinite when fewer fit.
  [[nodiscard]] double best_s(std::size_t n = 1) const;
  /// From now on only plans that take less than `seconds` are looked for.
  void look_below(double seconds) { below_s_ = seconds; }
  /// Returns the step time that a plan must beat to be among the best n plans looked for.
  [[nodiscard]] double wanted_s(std::size_t n) const { return std::min(best_s(n), below_s_); }
  /// Returns the simulated plans that fit, best first; equal ones in the order of plans.
  [[nodiscard]] std::vector<TunedPlan> ranked() const;
  [[nodiscard]] std::size_t fitting() const { return times_.size(); }
  /// Plans that do not fit: their memory is counted, they are not simulated.
  [[nodiscard]] const std::vector<TunedPlan>& too_large() const { return too_large_; }
  [[nodiscard]] std::int64_t simulated() const { return simulated_; }
  /// Number of operators that all simulations together executed.
  [[nodiscard]] std::int64_t operators() const { return operators_; }

 private:
  /// A plan with its program and memory, ready to be simulated.
  struct AccountedPlan {
    step::StepProgram program;
    TunedPlan tuned;
  };
  [[nodiscard]] AccountedPlan account(const PlanCandidate& candidate) const;
  bool keep(const PlanCandidate& candidate, AccountedPlan accounted);
  /// True if a plan is to be simulated: it fits, or is tight and `tight_from_` accepts that.
  [[nodiscard]] bool accepts(const TunedPlan& tuned) const;

  const plan::Job& job_;
  const cost::CostModel& cost_;
  const SearchRunOptions& running_;
  simulate::PriceStore prices_;
  std::optional<double> tight_from_;
  double below_s_ = std::numeric_limits<double>::infinity();
  /// Results by plan; nullopt: the plan does not fit.
  std::map<plan::Plan, std::optional<TunedPlan>> known_;
  std::map<plan::Plan, AccountedPlan> waiting_;  ///< Plans that fit and have not run.
  std::vector<double> times_;                    ///< Step times of plans that fit, ascending.
  std::vector<TunedPlan> too_large_;
  std::int64_t simulated_ = 0;
  std::int64_t operators_ = 0;
};

}  // namespace stepwright::tune
