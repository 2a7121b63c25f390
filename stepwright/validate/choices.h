#pragma once

#include <cstddef>
#include <span>

#include "stepwright/validate/rows/row_outcome.h"

namespace stepwright::validate {

/// How well predictions choose the best plan, over groups of measured runs that differ only in the
/// plan. Regret: measured time of the plan predicted fastest, divided by that of the truly fastest,
/// minus one. Tau: Kendall's tau-a of predicted and measured times in a group. Repeated runs of a
/// plan count once, with their mean.
struct PlanChoiceQuality {
  std::size_t groups = 0;
  /// Number of groups in which the plan predicted fastest is also the one measured fastest.
  std::size_t best_chosen = 0;
  double mean_regret = 0;
  double median_regret = 0;
  double worst_regret = 0;
  double median_tau = 0;
};

/// Computes how well predictions choose among plans, over groups of rows with equal
/// `TableRowPrediction::alike` that have at least three plans with different measured times. Among
/// plans predicted equally fast, the first counts. All members are zero if there is no such group.
PlanChoiceQuality ranking_quality_of_predictions(std::span<const TableRowPrediction> results);

}  // namespace stepwright::validate
