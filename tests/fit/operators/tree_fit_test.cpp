#include "stepwright/fit/operators/tree_fit.h"

#include <gtest/gtest.h>

#include <cmath>

namespace stepwright::fit {
namespace {

std::vector<BoostedTreeFitRow> rows() {
  std::vector<BoostedTreeFitRow> out;
  for (int i = 0; i < 600; ++i) {
    BoostedTreeFitRow row;
    const double x = i % 25, y = (i * 7) % 31;
    row.inputs.add(x);
    row.inputs.add(std::log2(1 + y));
    row.target = static_cast<float>(0.3 * std::sin(x) + 0.05 * y + (x > 12 ? 0.4 : 0) - 3);
    out.push_back(row);
  }
  return out;
}

TEST(TreeFit, OurEvaluationIsXgboosts) {
  const std::vector<BoostedTreeFitRow> all = rows();
  const cost::BoostedTrees trees = fit_boosted_trees(all);
  const std::vector<float> theirs = xgboost_predictions(all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_NEAR(trees.predict_from_features(all[i].inputs.all()), theirs[i], 1e-6);
  }
}

TEST(TreeFit, LearnsWhatItSaw) {
  const std::vector<BoostedTreeFitRow> all = rows();
  const cost::BoostedTrees trees = fit_boosted_trees(all);
  double error = 0;
  for (const BoostedTreeFitRow& row : all) {
    error += std::abs(trees.predict_from_features(row.inputs.all()) - row.target) / 600;
  }
  EXPECT_LT(error, 0.02);
}

TEST(TreeFit, EqualRowsGiveEqualTreesAlsoWhenReadBack) {
  const std::vector<BoostedTreeFitRow> all = rows();
  const cost::BoostedTrees trees = fit_boosted_trees(all);
  EXPECT_EQ(trees.boosted_tree_texts(), fit_boosted_trees(all).boosted_tree_texts());
  const cost::BoostedTrees again(trees.base(), trees.boosted_tree_texts(), 2, "again");
  EXPECT_EQ(trees.predict_from_features(all[7].inputs.all()),
            again.predict_from_features(all[7].inputs.all()));
}

}  // namespace
}  // namespace stepwright::fit
