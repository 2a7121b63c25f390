#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "stepwright/plan/laws/legality.h"

namespace stepwright::plan {

/// A function that returns a reference to one number of a plan (a degree, the micro-batch, ...)
/// which may be changed to make the plan legal.
using PlanNumber = std::int64_t& (*)(Plan& plan);
inline constexpr PlanNumber kTensorKnob = [](Plan& plan) -> auto& { return plan.parallel.tensor; };
inline constexpr PlanNumber kContextKnob = [](Plan& plan) -> auto& {
  return plan.parallel.context;
};
inline constexpr PlanNumber kDataKnob = [](Plan& plan) -> auto& { return plan.parallel.data; };
inline constexpr PlanNumber kPipelineKnob = [](Plan& plan) -> auto& {
  return plan.parallel.pipeline;
};
inline constexpr PlanNumber kExpertKnob = [](Plan& plan) -> auto& { return plan.parallel.expert; };
inline constexpr PlanNumber kExpertTensorKnob = [](Plan& plan) -> auto& {
  return plan.parallel.expert_tensor;
};
inline constexpr PlanNumber kMicroBatchKnob = [](Plan& plan) -> auto& { return plan.micro_batch; };
inline constexpr PlanNumber kChunksKnob = [](Plan& plan) -> auto& { return plan.schedule.chunks; };
inline constexpr PlanNumber kGroupKnob = [](Plan& plan) -> auto& { return plan.sharding.group; };
inline constexpr PlanNumber kExpertGroupKnob = [](Plan& plan) -> auto& {
  return plan.sharding.expert_group;
};

/// Collects the legal plans nearest to an illegal one. The broken rule proposes changes of the
/// choice at fault; dependent choices follow (the data degree that keeps the number of ranks, a
/// micro-batch that divides, ...). Once a proposal has led to a legal plan, later ones are ignored.
class NearestLegalPlanSearch {
 public:
  /// Starts the search for plans near `plan`, which breaks `rule`. Keeps references to `job` and
  /// `plan`, which must outlive this object.
  NearestLegalPlanSearch(const Job& job, const Plan& plan, PlanLegalityRule rule)
      : job_(job), plan_(plan), rule_(rule) {}

  [[nodiscard]] const Job& job() const { return job_; }
  [[nodiscard]] const Plan& plan() const { return plan_; }

  /// Proposes values for one number of the plan, ascending; keeps the nearest value below and above
  /// the present one that lead to a legal plan.
  void propose_values(PlanNumber knob, const std::vector<std::int64_t>& candidates);
  /// Proposes whole plans and keeps all legal ones.
  void propose_plans(const std::vector<Plan>& candidates);
  /// Sets text that says how to change the job, used if no plan of the job is legal.
  void set_job_change_advice(std::string nearest_legal_plans_text) {
    job_change_ = std::move(nearest_legal_plans_text);
  }

  [[nodiscard]] const std::vector<Plan>& found() const { return found_; }
  /// Returns text about the legal plans found: "nearest legal: tensor 8 with data 16, or tensor 20
  /// with data 8".
  [[nodiscard]] std::string nearest_legal_plans_text() const;

 private:
  bool take(const Plan& candidate);
  bool take_value(PlanNumber knob, std::int64_t value);

  const Job& job_;
  const Plan& plan_;
  PlanLegalityRule rule_;
  std::vector<Plan> found_;
  /// Proposed plans that obey the rule which the original plan breaks, but break a later rule; the
  /// error message names them if no legal plan is near.
  std::vector<Plan> partial_;
  bool wants_partial_ = false;
  std::string job_change_;
};

/// Adapts choices that depend on a changed one: turns off sequence parallelism or interleaving that
/// is no longer possible, and replaces a micro-batch or sharding group that no longer divides, a
/// layer list for another number of chunks, and a rank order that no longer fits. Does nothing if
/// the ranks do not fill the cluster.
void adapt_dependent_choices(const Job& job, Plan& plan);

}  // namespace stepwright::plan
