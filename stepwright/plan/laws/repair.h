#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "stepwright/plan/laws/legality.h"

namespace stepwright::plan {

/// Returns a reference to a whole number of a plan that a repair may change.
using Knob = std::int64_t& (*)(Plan& plan);
inline constexpr Knob kTensorKnob = [](Plan& plan) -> auto& { return plan.parallel.tensor; };
inline constexpr Knob kContextKnob = [](Plan& plan) -> auto& { return plan.parallel.context; };
inline constexpr Knob kDataKnob = [](Plan& plan) -> auto& { return plan.parallel.data; };
inline constexpr Knob kPipelineKnob = [](Plan& plan) -> auto& { return plan.parallel.pipeline; };
inline constexpr Knob kExpertKnob = [](Plan& plan) -> auto& { return plan.parallel.expert; };
inline constexpr Knob kExpertTensorKnob = [](Plan& plan) -> auto& {
  return plan.parallel.expert_tensor;
};
inline constexpr Knob kMicroBatchKnob = [](Plan& plan) -> auto& { return plan.micro_batch; };
inline constexpr Knob kChunksKnob = [](Plan& plan) -> auto& { return plan.schedule.chunks; };
inline constexpr Knob kGroupKnob = [](Plan& plan) -> auto& { return plan.sharding.group; };
inline constexpr Knob kExpertGroupKnob = [](Plan& plan) -> auto& {
  return plan.sharding.expert_group;
};

/// Collects the legal plans nearest to a refused one. A law proposes changes of the choice that
/// breaks it; dependent choices follow (the data degree that keeps the number of ranks, a
/// micro-batch that divides, ...). After a proposal has led to a legal plan, later proposals are
/// ignored.
class Repairs {
 public:
  /// Keeps references to `job` and `plan`, which must outlive it; `rule` is the broken rule.
  Repairs(const Job& job, const Plan& plan, Rule rule) : job_(job), plan_(plan), rule_(rule) {}

  [[nodiscard]] const Job& job() const { return job_; }
  [[nodiscard]] const Plan& plan() const { return plan_; }

  /// Proposes values of a knob, ascending: keeps the nearest value below and above the present one
  /// that give a legal plan.
  void values(Knob knob, const std::vector<std::int64_t>& candidates);
  /// Proposes plans; keeps all legal ones.
  void plans(const std::vector<Plan>& candidates);
  /// Sets the advice on how to change the job, used if no plan of this job is legal.
  void job_change(std::string advice) { job_change_ = std::move(advice); }

  [[nodiscard]] const std::vector<Plan>& found() const { return found_; }
  /// Describes the plans that were found: "nearest legal: tensor 8 with data 16, or tensor 20 with
  /// data 8".
  [[nodiscard]] std::string advice() const;

 private:
  bool take(const Plan& candidate);
  bool take_value(Knob knob, std::int64_t value);

  const Job& job_;
  const Plan& plan_;
  Rule rule_;
  std::vector<Plan> found_;
  std::vector<Plan> partial_;  ///< Plans that obey the broken rule but break a later one.
  bool wants_partial_ = false;
  std::string job_change_;
};

/// Changes the choices that depend on a changed one: sequence parallelism and interleaving that are
/// no longer possible, micro-batch and sharding groups that no longer divide, an explicit split for
/// another number of chunks, a rank order that no longer fits. Does nothing if the ranks do not
/// fill the cluster.
void follow(const Job& job, Plan& plan);

}  // namespace stepwright::plan
