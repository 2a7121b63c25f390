#include "stepwright/plan/strided_ranks.h"

#include <gmock/gmock.h>

#include <vector>

namespace stepwright::plan {
namespace {

StridedRanks product(std::initializer_list<StridedRankFactor> factors) {
  StridedRanks extents;
  for (const StridedRankFactor& factor : factors) extents.add(factor);
  return extents;
}

/// Returns all ranks in the group of rank 0, computed by addition.
std::vector<std::int64_t> ranks_of(const StridedRanks& extents) {
  std::vector<std::int64_t> ranks = {0};
  for (const StridedRankFactor& factor : extents) {
    std::vector<std::int64_t> more;
    for (std::int64_t i = 0; i < factor.size; ++i) {
      for (const std::int64_t rank : ranks) more.push_back(rank + i * factor.stride);
    }
    ranks = more;
  }
  return ranks;
}

TEST(StridedRanks, MergesFactorsThatContinueEachOtherInAnyOrder) {
  const StridedRanks whole = product({{12, 2}});
  EXPECT_EQ(product({{3, 2}, {4, 6}}), whole);
  EXPECT_EQ(product({{4, 6}, {3, 2}}), whole);
  EXPECT_EQ(product({{2, 12}, {3, 2}, {2, 6}}), whole);
  EXPECT_EQ(product({{3, 2}, {2, 12}, {2, 6}}), whole);
  EXPECT_EQ(product({{4, 12}, {3, 2}}).count(), 2);
}

TEST(StridedRanks, LeavesOutFactorsOfOne) {
  EXPECT_TRUE(product({{1, 5}}).empty());
  EXPECT_EQ(product({{1, 5}}).size(), 1);
  EXPECT_EQ(product({{1, 5}}).block(), 1);
}

TEST(StridedRanks, CountsRanksBelowALimit) {
  for (const StridedRanks& extents : {product({}), product({{4, 3}}), product({{2, 1}, {3, 8}}),
                                      product({{2, 3}, {2, 12}, {2, 48}})}) {
    const std::vector<std::int64_t> ranks = ranks_of(extents);
    for (std::int64_t limit = 0; limit < 100; ++limit) {
      const auto expected = std::ranges::count_if(ranks, [&](auto rank) { return rank < limit; });
      EXPECT_EQ(extents.count_ranks_below(limit), expected) << limit;
    }
  }
}

TEST(StridedRanks, FindsTheFirstRankOfAGroup) {
  const StridedRanks extents = product({{2, 3}, {2, 12}});
  for (std::int64_t block = 0; block < 48; block += 24) {
    for (const std::int64_t start : {0, 1, 2, 6, 7, 8}) {
      for (const std::int64_t rank : ranks_of(extents)) {
        EXPECT_EQ(extents.first_rank_of_group(block + start + rank), block + start);
      }
    }
  }
}

TEST(Cut, SplitsOneFactorByAnyDivisor) {
  const auto parts = cut_into_rank_runs(product({{12, 2}}), 6);
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->inner, product({{6, 2}}));
  EXPECT_EQ(parts->outer, product({{2, 12}}));
  EXPECT_FALSE(cut_into_rank_runs(product({{12, 2}}), 5));
  EXPECT_FALSE(cut_into_rank_runs(product({{12, 2}}), 24));
  EXPECT_FALSE(cut_into_rank_runs(product({{12, 2}}), 0));
  EXPECT_FALSE(cut_into_rank_runs(product({{12, 2}}), -2));
}

TEST(Cut, SplitsTwoFactorsInsideEither) {
  const StridedRanks group = product({{4, 1}, {6, 8}});
  const auto inside = cut_into_rank_runs(group, 2);
  ASSERT_TRUE(inside);
  EXPECT_EQ(inside->inner, product({{2, 1}}));
  EXPECT_EQ(inside->outer, product({{2, 2}, {6, 8}}));
  const auto across = cut_into_rank_runs(group, 12);
  ASSERT_TRUE(across);
  EXPECT_EQ(across->inner, product({{4, 1}, {3, 8}}));
  EXPECT_EQ(across->outer, product({{2, 24}}));
}

TEST(Cut, RefusesRunsThatAreNotAlike) {
  EXPECT_FALSE(cut_into_rank_runs(product({{4, 1}, {3, 8}}), 6));
  EXPECT_TRUE(cut_into_rank_runs(product({{4, 1}, {3, 4}}), 6));
}

}  // namespace
}  // namespace stepwright::plan
