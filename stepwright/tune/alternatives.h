#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "stepwright/tune/tune.h"

namespace stepwright::tune {

/// The fastest simulated plan of a family other than the best plan's.
struct Alternative {
  std::string family;  ///< The family of the plan (`family_of`).
  TunedPlan tuned;
  /// The points in which the alternative does better (`wins`) and worse (`loses`) than the best
  /// plan, in words: time, memory, and the terms of the breakdown that differ most. Differences
  /// below a thousandth are left out.
  std::vector<std::string> wins;
  std::vector<std::string> loses;
};

/// Returns in words the traits of a plan that people care about: its degrees, sharding strategy,
/// recomputation and schedule. "tensor 4, context 2, pipeline 4 (interleaved), data 2, NNG,
/// recompute none".
std::string family_of(const plan::Plan& plan);

/// Returns how many kinds of parallelism a plan uses: tensor, context, pipeline and expert; data is
/// not counted.
int kinds_of_parallelism(const plan::Parallel& parallel);

/// True if `plan` uses fewer kinds of parallelism than the plan `than`, data parallelism not
/// counted.
bool needs_less_parallelism(const plan::Plan& plan, const plan::Plan& than);

/// Returns the fastest plan of each family other than the best plan's, among the plans that were
/// simulated and fit; at most `most`, fastest first.
std::vector<Alternative> alternatives(const TuneResult& result, std::size_t most = 8);

}  // namespace stepwright::tune
