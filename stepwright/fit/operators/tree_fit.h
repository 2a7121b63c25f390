#pragma once

#include <span>

#include "stepwright/cost/laws/boosted_trees.h"
#include "stepwright/cost/laws/operator_features.h"

namespace stepwright::fit {

/// One row of a fit of boosted trees: features, and the value to predict.
struct BoostedTreeFitRow {
  cost::Features inputs;
  float target = 0;
};

/// Fits gradient-boosted trees to rows with XGBoost (squared error, 120 trees of depth 4, one
/// thread, fixed seed, so that equal rows give equal trees). Fails with `kRuntime` if XGBoost does.
cost::BoostedTrees fit_boosted_trees(std::span<const BoostedTreeFitRow> rows);

/// Returns XGBoost's own predictions for the rows after the fit of `fit_boosted_trees`, for tests
/// of `BoostedTrees`.
std::vector<float> xgboost_predictions(std::span<const BoostedTreeFitRow> rows);

}  // namespace stepwright::fit
