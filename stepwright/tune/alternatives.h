#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "stepwright/tune/tune.h"

namespace stepwright::tune {

/// The fastest simulated plan of one family of plans (`user_visible_plan_traits_text`) to which the
/// best plan does not belong.
struct AlternativePlan {
  /// The family of the plan in words: degrees, sharding, recomputation and schedule
  /// (`user_visible_plan_traits_text`).
  std::string family;
  TunedPlan tuned;
  /// How the alternative differs from the best plan, in words: `wins` lists what is better, `loses`
  /// what is worse (time, memory, the most different terms of the time breakdown). Differences
  /// below 0.1 % are left out.
  std::vector<std::string> wins;
  std::vector<std::string> loses;
};

/// Returns in words the traits of a plan that users compare: degrees, sharding strategy,
/// recomputation and schedule: "tensor 4, context 2, pipeline 4 (interleaved), data 2, NNG,
/// recompute none".
std::string user_visible_plan_traits_text(const plan::Plan& plan);

/// Returns how many of tensor, context, pipeline and expert parallelism a plan uses (degree above
/// 1); data parallelism is not counted.
int parallelism_kind_count(const plan::ParallelismDegrees& parallel);

/// True if `plan` uses fewer kinds of parallelism (tensor, context, pipeline, expert) than the plan
/// `than`.
bool has_fewer_parallelism_kinds(const plan::Plan& plan, const plan::Plan& than);

/// Returns the fastest plan of every family of plans except the best plan's own family, among the
/// simulated plans that fit in memory; at most `most` plans, fastest first.
std::vector<AlternativePlan> fastest_plan_of_each_family(const TuneResult& result,
                                                         std::size_t most = 8);

}  // namespace stepwright::tune
