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

/// The extent of a change: choices that a framework takes as options, or those that move the model
/// to other ranks: degrees of parallelism, the order of ranks, and which layers a pipeline position
/// has.
enum class ChangeKind : std::uint8_t { kFlag, kLayout };
inline constexpr Named<ChangeKind> kChangeKindNames[] = {{ChangeKind::kFlag, "flag"},
                                                         {ChangeKind::kLayout, "layout"}};

/// One step from a person's plan to the best; it comes after all before it.
struct Change {
  ChangeKind kind = ChangeKind::kFlag;
  std::vector<std::string> set;  ///< "recompute=none", as `predict --set` takes them.
  TunedPlan reached;             ///< A legal plan that fits.
  double gain_s = 0;  ///< Step time that it saves; may be negative where the plan did not fit.
};

/// A person's own plan beside the best of a search.
struct Against {
  TunedPlan own;
  std::vector<Change> changes;
};

/// The shortest way found from a plan to one that is at most `kAsGood` slower than the best: the
/// flag that gains most first, then pairs of flags, then what moves the model, then all that is
/// left at once; of several choices at once those that can be a change of their own come later.
/// What must follow a change follows. Empty when the plan is as good, or when no plan of the search
/// fits. Where the plan does not fit the first change makes it fit. Fails when it is not a legal
/// plan of the result's job. `attention`: the kernel that the person's plan trains with, where it
/// is not the job's; the search's own is then a flag, which comes first.
Against against(const TuneResult& result, const plan::Plan& own, const TuneOptions& options = {},
                std::optional<cluster::AttentionKernel> attention = std::nullopt);

/// Share of the best plan's step time below which nothing is worth a change.
inline constexpr double kAsGood = 5e-4;

/// `against` of `tune --json`.
nlohmann::ordered_json against_json(const TuneResult& result, const Against& against,
                                    const StartedBy& started_by);

}  // namespace stepwright::tune
