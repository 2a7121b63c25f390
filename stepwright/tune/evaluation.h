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

/// One plan in the simulator, its memory from its program.
TunedPlan simulate_plan(const plan::Job& job, const cost::CostModel& cost, const plan::Plan& plan,
                        const simulate::Price& price);

/// The results of simulating plans of a job, each plan once. The order in which plans are given and
/// the number of threads change nothing but `operators`.
class Evaluation {
 public:
  /// All but `prices` must outlive it. `tight_from`: as of `TuneOptions`; a plan fits here where it
  /// is one of those.
  Evaluation(const plan::Job& job, const cost::CostModel& cost, const Running& running,
             const simulate::PriceStore& prices = {}, std::optional<double> tight_from = {})
      : job_(job), cost_(cost), running_(running), prices_(prices), tight_from_(tight_from) {}

  /// Simulates candidates side by side, but those it knows. One that turns out not to fit is
  /// accounted and not played.
  void run(std::span<const Candidate* const> candidates);

  /// Takes a plan that fits and was simulated elsewhere.
  void take(const TunedPlan& simulated);

  /// Whether a candidate fits by its program, which is kept until it runs.
  bool fits(const Candidate& candidate);
  /// Returns the candidates that fit, accounted side by side.
  std::vector<const Candidate*> which_fit(std::span<const Candidate* const> candidates);

  /// Simulates the plan that exceeds the memory least, to 2 %, of candidates, those of the least
  /// closed form first, and of plans that were too large before. One at least must be there.
  [[nodiscard]] TunedPlan smallest(std::span<const Candidate> candidates) const;

  [[nodiscard]] const plan::Job& job() const { return job_; }
  [[nodiscard]] const cost::CostModel& cost() const { return cost_; }
  /// For pricers of its plans.
  [[nodiscard]] const simulate::PriceStore& prices() const { return prices_; }
  [[nodiscard]] int threads() const { return running_.threads; }
  [[nodiscard]] bool knows(const Candidate& candidate) const {
    return known_.contains(candidate.plan);
  }
  /// Step time of the n-th best plan that fits, from 1; infinite when fewer do.
  [[nodiscard]] double best_s(std::size_t n = 1) const;
  /// Tells that only plans that take less than `seconds` are looked for.
  void look_below(double seconds) { below_s_ = seconds; }
  /// The step time that a plan must beat to be among the best n that are looked for.
  [[nodiscard]] double wanted_s(std::size_t n) const { return std::min(best_s(n), below_s_); }
  /// Plans that fit, best first; ties by the plan.
  [[nodiscard]] std::vector<TunedPlan> ranked() const;
  [[nodiscard]] std::size_t fitting() const { return times_.size(); }
  /// Plans that do not fit: accounted, not simulated.
  [[nodiscard]] const std::vector<TunedPlan>& too_large() const { return too_large_; }
  [[nodiscard]] std::int64_t simulated() const { return simulated_; }
  /// Played by all simulations.
  [[nodiscard]] std::int64_t operators() const { return operators_; }

 private:
  /// A plan that may be played.
  struct Accounted {
    step::StepProgram program;
    TunedPlan tuned;
  };
  [[nodiscard]] Accounted account(const Candidate& candidate) const;
  bool keep(const Candidate& candidate, Accounted accounted);
  /// Whether a plan is played: it fits, or is tight where that is enough.
  [[nodiscard]] bool accepts(const TunedPlan& tuned) const;

  const plan::Job& job_;
  const cost::CostModel& cost_;
  const Running& running_;
  simulate::PriceStore prices_;
  std::optional<double> tight_from_;
  double below_s_ = std::numeric_limits<double>::infinity();
  /// nullopt: the plan does not fit.
  std::map<plan::Plan, std::optional<TunedPlan>> known_;
  std::map<plan::Plan, Accounted> waiting_;  ///< Plans that fit and have not run.
  std::vector<double> times_;                ///< Step times of plans that fit, ascending.
  std::vector<TunedPlan> too_large_;
  std::int64_t simulated_ = 0;
  std::int64_t operators_ = 0;
};

}  // namespace stepwright::tune
