#include <gtest/gtest.h>

#include <vector>

#include "stepwright/collective/generate.h"
#include "stepwright/collective/proof.h"

namespace stepwright::collective {
namespace {

constexpr CollectiveOperation kProved[] = {
    CollectiveOperation::kAllReduce,     CollectiveOperation::kAllGather,
    CollectiveOperation::kReduceScatter, CollectiveOperation::kAllToAll,
    CollectiveOperation::kBroadcast,     CollectiveOperation::kReduce};

std::string text_of(const CollectiveScheduleSpec& spec) {
  std::string text(name_of(kCollectiveAlgorithmNames, spec.method));
  text += " op " + std::to_string(static_cast<int>(spec.collective)) + " tiers";
  for (const std::int32_t size : spec.tiers) text += " " + std::to_string(size);
  text += " chunks " + std::to_string(spec.chunks);
  return spec.inner == IntraGroupPattern::kRing ? text + " inner ring" : text;
}

/// Proves every operation that the spec's method covers; returns how many.
int prove_all(CollectiveScheduleSpec spec) {
  int proven = 0;
  for (const CollectiveOperation collective : kProved) {
    spec.collective = collective;
    if (reason_no_collective_schedule_exists(spec)) continue;
    const auto defect = find_collective_schedule_defect(generate_collective_schedule(spec));
    EXPECT_FALSE(defect.has_value())
        << text_of(spec) << ": rank " << defect->rank << " channel " << defect->at.channel
        << " step " << defect->at.step << " " << defect->text;
    if (defect) return proven;
    ++proven;
  }
  return proven;
}

/// One test for each number of chunks, so that they can run in parallel.
class AllSmall : public testing::TestWithParam<std::int32_t> {};

TEST_P(AllSmall, TwoTierSchedulesAreProven) {
  int proven = 0;
  for (std::int32_t n = 1; n <= 8; ++n) {
    for (std::int32_t m = 1; m <= 8; ++m) {
      for (const CollectiveAlgorithm method :
           {CollectiveAlgorithm::kTwoLevel, CollectiveAlgorithm::kHoRing,
            CollectiveAlgorithm::kRelay}) {
        proven += prove_all({.method = method, .tiers = {m, n}, .chunks = GetParam()});
        if (testing::Test::HasFailure()) return;
      }
    }
  }
  EXPECT_EQ(proven, 64 * 7);
}

TEST_P(AllSmall, RailsOfRingsAndHalvesAreProven) {
  if (GetParam() > 3) return;
  int proven = 0;
  for (std::int32_t n = 1; n <= 8; ++n) {
    for (std::int32_t m = 1; m <= 8; ++m) {
      for (const CollectiveAlgorithm method :
           {CollectiveAlgorithm::kRings, CollectiveAlgorithm::kRailHalving}) {
        proven += prove_all({.method = method, .tiers = {m, n}, .chunks = GetParam()});
        if (testing::Test::HasFailure()) return;
      }
    }
  }
  EXPECT_EQ(proven, 64 * 3 + 32 * 3);
}

TEST_P(AllSmall, TwoTierSchedulesWithInnerRingsAreProven) {
  if (GetParam() > 3) return;
  for (std::int32_t n = 1; n <= 8; ++n) {
    for (std::int32_t m = 1; m <= 8; ++m) {
      for (const CollectiveAlgorithm method :
           {CollectiveAlgorithm::kTwoLevel, CollectiveAlgorithm::kHoRing}) {
        prove_all({.method = method,
                   .tiers = {m, n},
                   .chunks = GetParam(),
                   .inner = IntraGroupPattern::kRing});
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST_P(AllSmall, FlatSchedulesAreProven) {
  for (std::int32_t ranks = 1; ranks <= 64; ranks += ranks < 12 ? 1 : 13) {
    for (const CollectiveAlgorithm method :
         {CollectiveAlgorithm::kRing, CollectiveAlgorithm::kHalvingDoubling,
          CollectiveAlgorithm::kTree, CollectiveAlgorithm::kDirect}) {
      prove_all({.method = method, .tiers = {ranks}, .chunks = GetParam()});
      if (testing::Test::HasFailure()) return;
    }
  }
}

void prove_tiers(const std::vector<std::int32_t>& tiers, std::int32_t chunks) {
  for (const IntraGroupPattern inner : {IntraGroupPattern::kDirect, IntraGroupPattern::kRing}) {
    for (const CollectiveAlgorithm method :
         {CollectiveAlgorithm::kTwoLevel, CollectiveAlgorithm::kHoRing,
          CollectiveAlgorithm::kDirect}) {
      prove_all({method, {}, tiers, chunks, inner});
    }
  }
}

TEST_P(AllSmall, ThreeTierSchedulesAreProven) {
  if (GetParam() > 3) return;
  for (std::int32_t a = 1; a <= 4; ++a) {
    for (std::int32_t b = 1; b <= 3; ++b) {
      for (std::int32_t n = 1; n <= 4; ++n) {
        prove_tiers({a, b, n}, GetParam());
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Chunks, AllSmall, testing::Range(1, 9));

TEST(Proof, HoldsForManyRanks) {
  const std::vector<CollectiveScheduleSpec> specs = {
      {.method = CollectiveAlgorithm::kHoRing, .tiers = {8, 16}, .chunks = 2},
      {.method = CollectiveAlgorithm::kHoRing, .tiers = {8, 4, 8}},
      {.method = CollectiveAlgorithm::kHoRing, .tiers = {16, 32}},
      {.method = CollectiveAlgorithm::kTwoLevel, .tiers = {8, 32}},
      {.method = CollectiveAlgorithm::kRing, .tiers = {256}},
      {.method = CollectiveAlgorithm::kRings, .tiers = {8, 8}, .chunks = 2},
      {.method = CollectiveAlgorithm::kRailHalving, .tiers = {8, 32}},
      {.method = CollectiveAlgorithm::kRelay, .tiers = {8, 32}},
      {.method = CollectiveAlgorithm::kHalvingDoubling, .tiers = {512}},
      {.method = CollectiveAlgorithm::kTree, .tiers = {4096}, .chunks = 4},
      {.method = CollectiveAlgorithm::kTree, .tiers = {3000}, .chunks = 3}};
  for (const CollectiveScheduleSpec& spec : specs) prove_all(spec);
}

/// Proves each rank separately, because proving all together would take too long.
TEST(Proof, HoldsRankByRankAt4096) {
  for (const CollectiveAlgorithm method :
       {CollectiveAlgorithm::kHoRing, CollectiveAlgorithm::kTwoLevel, CollectiveAlgorithm::kRing,
        CollectiveAlgorithm::kDirect, CollectiveAlgorithm::kRelay,
        CollectiveAlgorithm::kHalvingDoubling, CollectiveAlgorithm::kRings,
        CollectiveAlgorithm::kRailHalving}) {
    for (const CollectiveOperation collective : kProved) {
      const CollectiveScheduleSpec spec{method, collective, {8, 512}};
      if (reason_no_collective_schedule_exists(spec)) continue;
      const CollectiveSchedule frame = empty_collective_schedule(spec);
      for (const std::int32_t rank : {0, 1, 2047, 4095}) {
        const auto defect =
            find_rank_schedule_defect(frame, generate_rank_schedule(spec, rank), rank, 4096);
        EXPECT_FALSE(defect.has_value()) << text_of(spec) << ": " << defect->text;
      }
    }
  }
}

}  // namespace
}  // namespace stepwright::collective
