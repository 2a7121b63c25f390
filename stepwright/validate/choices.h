#pragma once

#include <cstddef>
#include <span>

#include "stepwright/validate/rows/row_outcome.h"

namespace stepwright::validate {

/// How well predictions choose among plans, over groups of runs that differ only in the plan.
/// Repeated runs of one plan count as one, with their mean time. Regret: measured time of the plan
/// that is predicted fastest, divided by the measured fastest time, minus one. Tau: Kendall's tau-a
/// of predicted and measured times inside a group.
struct PlanChoiceQuality {
  std::size_t groups = 0;
  /// Number of groups in which the plan predicted fastest is the measured fastest.
  std::size_t best_chosen = 0;
  double mean_regret = 0;
  double median_regret = 0;
  double worst_regret = 0;
  double median_tau = 0;
};

/// Computes the choices over groups of rows with equal `RowResult::alike`, if a group has at least
/// three plans with three different measured times. If several plans are predicted equally fast,
/// the first counts. All members are zero if there is no such group.
PlanChoiceQuality plan_choice_quality(std::span<const RowResult> results);

}  // namespace stepwright::validate
