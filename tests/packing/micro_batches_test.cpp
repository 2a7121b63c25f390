#include "stepwright/packing/micro_batches.h"

#include <gtest/gtest.h>

#include <cmath>

namespace stepwright::packing {
namespace {

TEST(MicroBatches, PaddedToOneLengthAreAlike) {
  const Packing packing{.kind = PackingKind::kNone};
  const PackingStatistics packs = packed_sequence_statistics({{100, 1}, {300, 1}}, packing, 512);
  EXPECT_EQ(micro_batch_spread(packs, packing, 4).pairs, 0);
  EXPECT_EQ(micro_batch_spread(packs, packing, 4).tokens, 0);
}

TEST(MicroBatches, PaddedToTheLongestAreKnownByHand) {
  const Packing packing{.kind = PackingKind::kNone, .pad_to = PaddingTarget::kLongest};
  const PackingStatistics packs = packed_sequence_statistics({{100, 1}, {300, 1}}, packing, 512);
  // Of one: 100 or 300, mean 200, deviation 100. Of two: 300 in three of four cases.
  EXPECT_NEAR(micro_batch_spread(packs, packing, 1).tokens, 0.5, 1e-3);
  EXPECT_NEAR(micro_batch_spread(packs, packing, 2).tokens, std::sqrt(7500.0) / 250, 1e-3);
  const double pairs = (5050 + 45150) / 2.0;
  EXPECT_NEAR(micro_batch_spread(packs, packing, 1).pairs, (45150 - pairs) / pairs, 1e-3);
}

TEST(MicroBatches, WithoutPaddingEvenOut) {
  const Packing packing{.kind = PackingKind::kNone, .pad_to = PaddingTarget::kNone};
  const PackingStatistics packs = packed_sequence_statistics({{100, 1}, {300, 1}}, packing, 512);
  EXPECT_NEAR(micro_batch_spread(packs, packing, 1).tokens, 0.5, 1e-3);
  EXPECT_NEAR(micro_batch_spread(packs, packing, 4).tokens, 0.25, 1e-3);
  const double pairs = (5050 + 45150) / 2.0;
  EXPECT_NEAR(micro_batch_spread(packs, packing, 4).pairs, (45150 - pairs) / pairs / 2, 1e-3);
}

TEST(MicroBatches, OfPackedSequencesEvenOut) {
  const Packing packing{.kind = PackingKind::kGreedy, .too_long = LongDocumentPolicy::kDrop};
  const PackingStatistics packs =
      packed_sequence_statistics(lognormal_length_histogram(800, 0.8), packing, 4096);
  const MicroBatchVariation one = micro_batch_spread(packs, packing, 1);
  const MicroBatchVariation four = micro_batch_spread(packs, packing, 4);
  EXPECT_GT(one.pairs, 0.2);
  EXPECT_NEAR(four.pairs, one.pairs / 2, 1e-12);
  EXPECT_NEAR(four.skewness, one.skewness / 2, 1e-12);
  EXPECT_EQ(one.tokens, 0);
}

}  // namespace
}  // namespace stepwright::packing
