#include "stepwright/packing/pack_documents.h"

#include <gmock/gmock.h>

#include <numeric>
#include <random>

namespace stepwright::packing {
namespace {

using ::testing::ElementsAre;

const Documents kLengths = {6, 5, 5, 4, 3, 7};

TEST(PackDocuments, GreedyClosesASequenceWhenTheNextDoesNotFit) {
  EXPECT_THAT(pack_documents(kLengths, 10, PackingKind::kGreedy),
              ElementsAre(Documents{6}, Documents{5, 5}, Documents{4, 3}, Documents{7}));
}

TEST(PackDocuments, FirstFitTakesTheLongestFirst) {
  EXPECT_THAT(pack_documents(kLengths, 10, PackingKind::kFirstFit),
              ElementsAre(Documents{7, 3}, Documents{6, 4}, Documents{5, 5}));
}

TEST(PackDocuments, FirstFitMayTakeThemAsTheyCome) {
  EXPECT_THAT(pack_documents(kLengths, 10, PackingKind::kFirstFit, PackingOrder::kAsTheyCome),
              ElementsAre(Documents{6, 4}, Documents{5, 5}, Documents{3, 7}));
}

TEST(PackDocuments, SortedPutsLikeLengthsTogether) {
  EXPECT_THAT(pack_documents(kLengths, 10, PackingKind::kSorted),
              ElementsAre(Documents{3, 4}, Documents{5, 5}, Documents{6}, Documents{7}));
}

TEST(PackDocuments, WithoutPackingEachStandsAlone) {
  EXPECT_THAT(pack_documents(Documents{2, 10}, 10, PackingKind::kNone),
              ElementsAre(Documents{2}, Documents{10}));
}

TEST(PackDocuments, LosesNoDocumentAndFillsNoSequenceBeyondItsRoom) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 50; ++round) {
    Documents lengths;
    for (int i = 0; i < 200; ++i) lengths.push_back(1 + static_cast<std::int64_t>(random() % 100));
    for (const auto& [kind, name] : kPackingKindNames) {
      Documents all;
      for (const Documents& pack : pack_documents(lengths, 100, kind)) {
        EXPECT_LE(std::accumulate(pack.begin(), pack.end(), std::int64_t{0}), 100) << name;
        all.insert(all.end(), pack.begin(), pack.end());
      }
      EXPECT_THAT(all, ::testing::UnorderedElementsAreArray(lengths)) << name;
    }
  }
}

TEST(PackDocuments, FirstFitNeverNeedsMoreSequencesThanGreedy) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 50; ++round) {
    Documents lengths;
    for (int i = 0; i < 300; ++i) lengths.push_back(1 + static_cast<std::int64_t>(random() % 64));
    EXPECT_LE(pack_documents(lengths, 64, PackingKind::kFirstFit).size(),
              pack_documents(lengths, 64, PackingKind::kGreedy).size());
  }
}

}  // namespace
}  // namespace stepwright::packing
