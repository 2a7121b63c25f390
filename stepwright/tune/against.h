#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/core/named.h"
#include "stepwright/tune/tune.h"
#include "stepwright/tune/tune_json.h"

namespace stepwright::tune {

/// How much a change disturbs a run. kFlag: choices that a framework takes as options. kLayout:
/// choices that move the model to other ranks: degrees of parallelism, the order of ranks, and
/// which layers a pipeline rank has.
enum class PlanChangeKind : std::uint8_t { kFlag, kLayout };
inline constexpr Named<PlanChangeKind> kChangeKindNames[] = {{PlanChangeKind::kFlag, "flag"},
                                                             {PlanChangeKind::kLayout, "layout"}};

/// One change of a user's plan on the way to the best plan of a search; applied on top of all
/// earlier changes of the list.
struct PlanChange {
  PlanChangeKind kind = PlanChangeKind::kFlag;
  /// Plan fields that the change sets, each as FIELD=VALUE, as for `predict --set`:
  /// "recompute=none".
  std::vector<std::string> set;
  TunedPlan reached;  ///< The plan after this change; it is legal and fits in memory.
  /// Seconds of step time that this change saves; may be negative if the plan before the change did
  /// not fit in memory.
  double gain_s = 0;
};

/// A user's own plan, and the changes that lead from it to the best plan of a search.
struct UserPlanComparison {
  TunedPlan own;
  std::vector<PlanChange> changes;
};

/// Returns a short list of changes that lead from a user's plan `own` to a plan at most
/// `kMinProposedPlanSaving` slower than the best plan of a search: first the single flag that gains
/// most, then pairs of flags, then changes of layout, then all remaining differences at once. A
/// change of several choices contains only choices that need each other or that it forces; every
/// other choice is a later change of its own. If `own` does not fit in memory, the first change
/// makes it fit. The list is empty if `own` is as good as the best plan, or if no plan of the
/// search fits. Fails if `own` is not legal in the result's job. `attention`: the attention kernel
/// of the user's plan if it differs from the job's; changing to the search's kernel is then the
/// first change.
UserPlanComparison compare_user_plan(
    const TuneResult& result, const plan::Plan& own, const TuneOptions& options = {},
    std::optional<cluster::AttentionKernel> attention = std::nullopt);

/// Least saving for which a change of a user's plan is proposed, as a share of the best plan's step
/// time.
inline constexpr double kMinProposedPlanSaving = 5e-4;

/// Returns the JSON value of the key `compare_user_plan` in the output of `tune --json`: the user's
/// plan and the changes to the best plan.
nlohmann::ordered_json user_plan_comparison_json(const TuneResult& result,
                                                 const UserPlanComparison& against,
                                                 const FrameworksRunningPlan& started_by);

}  // namespace stepwright::tune
