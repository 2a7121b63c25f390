#pragma once

#include <compare>
#include <cstddef>
#include <vector>

#include "stepwright/plan/job.h"
#include "stepwright/tune/tune.h"

namespace stepwright::answers {

/// The share of a step by which repeated runs of one plan differ (docs/accuracy.md, "What the bars
/// ask of predictions"): plans that are closer are told apart by nothing but what they ask of
/// people.
inline constexpr double kLevel = 0.01;

/// Upkeep counts what a plan asks of the people who run it. Less is better; the first member that
/// differs decides.
struct Upkeep {
  int kinds = 0;            ///< Kinds of parallelism, data apart.
  int moves = 0;            ///< Choices in which it leaves its framework's recipe.
  bool recomputes = false;  ///< True if it computes anything twice.
  auto operator<=>(const Upkeep&) const = default;
};

/// Counts the upkeep of a canonical plan under the framework of its job.
Upkeep upkeep(const plan::Job& job, const plan::Plan& plan);

/// Orders the plans that are level with the first by their upkeep; `plans` are the fastest first.
/// Returns how many are level.
std::size_t order_level_plans(const plan::Job& job, std::vector<tune::TunedPlan>& plans);

}  // namespace stepwright::answers
