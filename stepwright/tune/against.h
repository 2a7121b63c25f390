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
/// which layers a pipeline position has.
enum class ChangeKind : std::uint8_t { kFlag, kLayout };
inline constexpr Named<ChangeKind> kChangeKindNames[] = {{ChangeKind::kFlag, "flag"},
                                                         {ChangeKind::kLayout, "layout"}};

/// One step on the way from a person's plan to the best plan; applied on top of all earlier
/// changes.
struct Change {
  ChangeKind kind = ChangeKind::kFlag;
  std::vector<std::string> set;  ///< Fields as `predict --set` takes them: "recompute=none".
  TunedPlan reached;             ///< The plan after this change: legal, and it fits.
  /// Step time that this change saves; may be negative where the plan before did not fit.
  double gain_s = 0;
};

/// A person's own plan, and the changes that lead from it to the best plan of a search.
struct UserPlanComparison {
  TunedPlan own;
  std::vector<Change> changes;
};

/// Returns the shortest list found of changes from a person's plan to a plan that is at most
/// `kEqualPlanTolerance` slower than the best: first the single flag that gains most, then pairs of
/// flags, then changes of layout, then all remaining differences at once. A change of several
/// choices drops those that can be a change of their own; they come later. Choices that a change
/// forces are part of it. The list is empty when the plan is as good as the best, or when no plan
/// of the search fits. Where the plan does not fit, the first change makes it fit. Fails when `own`
/// is not a legal plan of the result's job. `attention`: the attention kernel that the person's
/// plan trains with, where it differs from the job's; the search's own kernel is then a flag, which
/// comes first.
UserPlanComparison compare_user_plan(
    const TuneResult& result, const plan::Plan& own, const TuneOptions& options = {},
    std::optional<cluster::AttentionKernel> attention = std::nullopt);

/// Smallest saving that is worth a change, as a share of the best plan's step time.
inline constexpr double kEqualPlanTolerance = 5e-4;

/// Returns the key `compare_user_plan` of the output of `tune --json`.
nlohmann::ordered_json user_plan_comparison_json(const TuneResult& result,
                                                 const UserPlanComparison& against,
                                                 const StartedBy& started_by);

}  // namespace stepwright::tune
