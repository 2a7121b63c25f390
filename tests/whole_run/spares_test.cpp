#include "stepwright/whole_run/spares.h"

#include <gtest/gtest.h>

#include "stepwright/packing/largest_of.h"

namespace stepwright::whole_run {
namespace {

TEST(WaitingShare, WithoutSparesEveryFailureWaitsForItsRepair) {
  // A failure in 9 hours of running, then one hour of repair.
  EXPECT_NEAR(time_share_waiting_for_node_repairs({1 / 9.0, 1, 0}), 0.1, 1e-15);
  EXPECT_EQ(time_share_waiting_for_node_repairs({1 / 9.0, 0, 0}), 0);
  EXPECT_EQ(time_share_waiting_for_node_repairs({0, 5, 0}), 0);
}

TEST(WaitingShare, IsErlangsFormula) {
  // Tables of Erlang B: 2 erlangs on 3 servers lose 21.05 %, 10 erlangs on 15 servers 3.65 %.
  EXPECT_NEAR(time_share_waiting_for_node_repairs({2, 1, 2}), 4.0 / 19, 1e-12);
  EXPECT_NEAR(time_share_waiting_for_node_repairs({10, 1, 14}), 0.0365, 5e-5);
  EXPECT_LT(time_share_waiting_for_node_repairs({2, 1, 1'000'000}), 1e-300);
}

TEST(WaitingVariance, IsANumberWhateverTheSpares) {
  double before = 1e300;
  for (const std::int64_t spares : {0, 1, 2, 10, 40, 50, 60, 70, 80, 100, 1'000, 1'000'000}) {
    const double variance = time_variance_of_node_repairs_s2({0.1, 1, spares}, 1e6, 0.01);
    EXPECT_LE(variance, before) << spares;
    EXPECT_GE(variance, 0) << spares;
    before = variance;
  }
  EXPECT_EQ(before, 0);
}

TEST(ExpectedLargest, IsKnownOfFewDraws) {
  // H. L. Harter, Biometrika 48 (1961), table 1: expected values of normal order statistics.
  EXPECT_EQ(packing::maximum_distribution(1, 0).mean, 0);
  EXPECT_NEAR(packing::maximum_distribution(2, 0).mean, 0.56419, 1e-5);
  EXPECT_NEAR(packing::maximum_distribution(6, 0).mean, 1.26721, 1e-5);
  EXPECT_NEAR(packing::maximum_distribution(100, 0).mean, 2.50759, 1e-5);
  EXPECT_GT(packing::maximum_distribution(std::int64_t{1} << 30, 0).mean, 6);
}

}  // namespace
}  // namespace stepwright::whole_run
