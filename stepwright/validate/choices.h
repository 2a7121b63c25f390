#pragma once

#include <cstddef>
#include <span>

#include "stepwright/validate/rows/row_outcome.h"

namespace stepwright::validate {

/// How good the plans are that predictions choose, over groups of runs that differ in nothing but
/// the plan; runs of one plan count as one, of their mean times. Regret: measured time of the plan
/// that is predicted fastest over the measured fastest, less one. Tau: Kendall's tau-a of predicted
/// and measured times inside a group.
struct Choices {
  std::size_t groups = 0;
  std::size_t best_chosen = 0;  ///< Number of groups without regret.
  double mean_regret = 0;
  double median_regret = 0;
  double worst_regret = 0;
  double median_tau = 0;
};

/// Over the groups of equal `RowResult::alike` with at least three plans of three different
/// measured times; of plans predicted equally fast the first counts. Zero everywhere without such
/// groups.
Choices choices_of(std::span<const RowResult> results);

}  // namespace stepwright::validate
