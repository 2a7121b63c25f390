#include "stepwright/packing/packs.h"

#include <gmock/gmock.h>

#include "stepwright/core/error.h"

namespace stepwright::packing {
namespace {

using ::testing::HasSubstr;

TEST(Packs, OfEqualDocumentsAreKnownByHand) {
  // Three documents of 300 tokens in a sequence of 1,000.
  const PackingStatistics packs =
      packed_sequence_statistics({{300, 5}}, {.kind = PackingKind::kGreedy}, 1000);
  EXPECT_EQ(packs.documents, (LengthHistogram{{300, 3}}));
  EXPECT_EQ(packs.fills, (LengthHistogram{{900, 1}}));
  EXPECT_NEAR(packs.tokens.mean, 900, 1e-9);
  EXPECT_NEAR(packs.tokens.variance, 0, 1e-9);
  EXPECT_NEAR(packs.pairs.mean, 3 * 300 * 301 / 2.0, 1e-6);
}

TEST(Packs, OfAWholeDataSetHoldEachDocumentOnce) {
  const LengthHistogram lengths = {{100, 3000}, {700, 2000}};
  const PackingStatistics packs =
      packed_sequence_statistics(lengths, {.kind = PackingKind::kFirstFit}, 1000);
  // 2,000 sequences of 700 + 3 x 100 hold 6,000 of 100; there are 3,000.
  EXPECT_NEAR(packs.tokens.mean, total_tokens(lengths) / 2000, 1e-9);
  EXPECT_EQ(packs.documents, (LengthHistogram{{100, 1.5}, {700, 1}}));
  EXPECT_EQ(packs.fills, (LengthHistogram{{700, 0.5}, {1000, 0.5}}));
  EXPECT_NEAR(packs.tokens.variance, 150 * 150, 1e-6);
}

TEST(Packs, AreTheSameForTheSameSeedOnly) {
  const LengthHistogram lengths = lognormal_length_histogram(500, 0.5);
  const Packing packing{.kind = PackingKind::kGreedy, .too_long = LongDocumentPolicy::kDrop};
  Packing other = packing;
  other.seed = 1;
  EXPECT_EQ(packed_sequence_statistics(lengths, packing, 4096),
            packed_sequence_statistics(lengths, packing, 4096));
  EXPECT_FALSE(packed_sequence_statistics(lengths, packing, 4096) ==
               packed_sequence_statistics(lengths, other, 4096));
  EXPECT_NEAR(packed_sequence_statistics(lengths, packing, 4096).tokens.mean /
                  packed_sequence_statistics(lengths, other, 4096).tokens.mean,
              1, 0.01);
}

TEST(Packs, RefuseSplitOrDropWhatIsTooLong) {
  const LengthHistogram lengths = {{500, 3}, {2300, 1}};
  Packing packing{.kind = PackingKind::kNone};
  try {
    packed_sequence_statistics(lengths, packing, 1000);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("25 % of the documents are longer than 1,000 tokens"));
    EXPECT_THAT(error.what(), HasSubstr("packing.too_long"));
  }
  packing.too_long = LongDocumentPolicy::kDrop;
  EXPECT_EQ(packed_sequence_statistics(lengths, packing, 1000).tokens.mean, 500);
  packing.too_long = LongDocumentPolicy::kSplit;
  // 3 x 500, 2 x 1,000 and 300.
  const PackingStatistics split = packed_sequence_statistics(lengths, packing, 1000);
  EXPECT_NEAR(split.tokens.mean, 3800.0 / 6, 1);
  EXPECT_EQ(split.too_long, 0.25);
  packing.too_long = LongDocumentPolicy::kDrop;
  EXPECT_THROW(packed_sequence_statistics({{2300, 1}}, packing, 1000), Error);
}

TEST(Packs, TakeTheFirstTokensOfWhatIsTruncated) {
  const PackingStatistics packs = packed_sequence_statistics(
      {{500, 3}, {2300, 1}},
      {.kind = PackingKind::kNone, .too_long = LongDocumentPolicy::kTruncate}, 1000);
  EXPECT_EQ(packs.documents, (LengthHistogram{{500, 0.75}, {1000, 0.25}}));
  EXPECT_EQ(packs.too_long, 0.25);
}

TEST(Packs, OfGroupsEndWithOneThatIsNotFull) {
  // Five documents of 300 in a group: three in a sequence, two in the next.
  const PackingStatistics packs =
      packed_sequence_statistics({{300, 1}}, {.kind = PackingKind::kFirstFit, .group = 5}, 1000);
  EXPECT_EQ(packs.fills, (LengthHistogram{{600, 0.5}, {900, 0.5}}));
}

TEST(Packs, WithoutMasksAreOneDocument) {
  const PackingStatistics packs = packed_sequence_statistics(
      {{300, 1}}, {.kind = PackingKind::kFirstFit, .masks = false}, 1000);
  EXPECT_EQ(packs.documents, (LengthHistogram{{900, 1}}));
  EXPECT_NEAR(packs.pairs.mean, causal_attention_pairs(900), 1e-6);
}

TEST(Packs, FilledBestByFirstFitAndWorstWithoutPacking) {
  const LengthHistogram lengths = lognormal_length_histogram(800, 0.8);
  const auto filled = [&](PackingKind kind) {
    return packed_sequence_statistics(lengths,
                                      {.kind = kind, .too_long = LongDocumentPolicy::kDrop}, 4096)
               .tokens.mean /
           4096;
  };
  EXPECT_GT(filled(PackingKind::kFirstFit), 0.99);
  EXPECT_GT(filled(PackingKind::kFirstFit), filled(PackingKind::kGreedy));
  EXPECT_GT(filled(PackingKind::kGreedy), filled(PackingKind::kNone));
}

TEST(Packs, TheLongestOfSeveralFollowsFromTheirShares) {
  // Of two sequences one at least is the longer one in three of four cases.
  EXPECT_EQ(longest_sequence_distribution({{100, 0.5}, {300, 0.5}}, 2),
            (LengthHistogram{{100, 0.25}, {300, 0.75}}));
}

TEST(Packs, FillingUpDocumentsTakesRoomThatPackersFindToo) {
  const LengthHistogram lengths = lognormal_length_histogram(300, 0.6);
  const Packing packing{.kind = PackingKind::kFirstFit, .too_long = LongDocumentPolicy::kDrop};
  const double share = 1 / document_padding_factor(lengths, 32);
  EXPECT_LT(share, 0.97);
  LengthHistogram padded;
  for (const auto& [length, count] : lengths) padded.push_back({(length + 31) / 32 * 32, count});
  const PackingStatistics tight = packed_sequence_statistics(lengths, packing, 4096);
  const PackingStatistics filled =
      packed_sequence_statistics(merge_equal_lengths(padded), packing, 4096);
  EXPECT_NEAR(total_document_count(filled.documents) / total_document_count(tight.documents), share,
              0.01);
}

TEST(Packs, ManyLengthsBecomeFewWithTheSameTokens) {
  LengthHistogram lengths;
  for (std::int64_t i = 1; i <= 3000; ++i) lengths.push_back({i, 2});
  const PackingStatistics packs =
      packed_sequence_statistics(lengths, {.kind = PackingKind::kGreedy}, 8192);
  EXPECT_LE(packs.documents.size(), 256U);
  EXPECT_NEAR(total_tokens(packs.documents) / packs.tokens.mean, 1, 1e-9);
  double pairs = 0;
  for (const auto& [length, count] : packs.documents)
    pairs += causal_attention_pairs(length) * count;
  EXPECT_NEAR(pairs / packs.pairs.mean, 1, 1e-3);
}

}  // namespace
}  // namespace stepwright::packing
