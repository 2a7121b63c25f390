#include "stepwright/packing/length_histogram.h"

#include <gtest/gtest.h>

#include <cmath>

namespace stepwright::packing {
namespace {

TEST(LengthHistogram, JoinsLengthsAndLeavesOutWhatDoesNotOccur) {
  const LengthHistogram made = merge_equal_lengths({{8, 2}, {4, 1}, {8, 3}, {2, 0}});
  EXPECT_EQ(made, (LengthHistogram{{4, 1}, {8, 5}}));
  EXPECT_EQ(total_document_count(made), 6);
  EXPECT_EQ(total_tokens(made), 44);
}

TEST(LengthHistogram, OfALognormalHasItsMomentsAndMedian) {
  const LengthHistogram made = lognormal_length_histogram(2000, 0.7);
  EXPECT_NEAR(total_document_count(made), 1, 1e-9);
  EXPECT_NEAR(total_tokens(made), 2000 * std::exp(0.49 / 2), 3);
  double squares = 0;
  double below = 0;
  for (const auto& [length, count] : made) {
    squares += static_cast<double>(length * length) * count;
    if (length < 2000) below += count;
  }
  EXPECT_NEAR(squares / (2000.0 * 2000 * std::exp(2 * 0.49)), 1, 0.01);
  EXPECT_NEAR(below, 0.5, 0.01);
}

}  // namespace
}  // namespace stepwright::packing
