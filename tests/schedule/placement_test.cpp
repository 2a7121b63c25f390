#include "stepwright/schedule/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace stepwright::schedule {
namespace {

struct Case {
  ChunkPlacementKind kind;
  std::int64_t positions;
  std::int64_t chunks;
};
constexpr Case kCases[] = {
    {ChunkPlacementKind::kCyclic, 1, 1},   {ChunkPlacementKind::kCyclic, 4, 1},
    {ChunkPlacementKind::kCyclic, 3, 4},   {ChunkPlacementKind::kCyclic, 1, 3},
    {ChunkPlacementKind::kV, 1, 2},        {ChunkPlacementKind::kV, 4, 2},
    {ChunkPlacementKind::kMirrored, 1, 2}, {ChunkPlacementKind::kMirrored, 4, 2}};

/// Returns the positions that hold a chunk of the model.
std::vector<ChunkPlace> holders(const Placement& placement, std::int64_t chunk) {
  std::vector<ChunkPlace> places;
  for (std::int64_t position = 0; position < placement.positions(); ++position) {
    for (std::int64_t own = 0; own < placement.chunks(); ++own) {
      if (placement.model_chunk_index({position, own}) == chunk) places.push_back({position, own});
    }
  }
  return places;
}

TEST(Placement, CyclicDealsChunksOutInTurn) {
  const Placement placement(ChunkPlacementKind::kCyclic, 4, 2);
  EXPECT_EQ(placement.model_chunk_count(), 8);
  EXPECT_EQ(placement.model_chunk_index({3, 0}), 3);
  EXPECT_EQ(placement.model_chunk_index({0, 1}), 4);
  EXPECT_EQ(placement.next({3, 0}), (ChunkPlace{0, 1}));
  EXPECT_EQ(placement.previous_chunk_place({0, 1}), (ChunkPlace{3, 0}));
  EXPECT_TRUE(placement.holds_embedding(0));
  EXPECT_TRUE(placement.holds_head(3));
  EXPECT_FALSE(placement.holds_head(0));
}

TEST(Placement, VGoesDownAndUpAgain) {
  const Placement placement(ChunkPlacementKind::kV, 4, 2);
  EXPECT_EQ(placement.model_chunk_index({1, 0}), 1);
  EXPECT_EQ(placement.model_chunk_index({1, 1}), 6);
  // At the turning point the neighbour is the same position: nothing is sent.
  EXPECT_EQ(placement.next({3, 0}), (ChunkPlace{3, 1}));
  EXPECT_EQ(placement.next({2, 1}), (ChunkPlace{1, 1}));
  EXPECT_TRUE(placement.holds_embedding(0));
  EXPECT_TRUE(placement.holds_head(0));
  EXPECT_FALSE(placement.holds_head(3));
}

TEST(Placement, MirroredHasTwoHoldersOfEachChunk) {
  const Placement placement(ChunkPlacementKind::kMirrored, 4, 2);
  EXPECT_EQ(placement.model_chunk_count(), 4);
  EXPECT_EQ(holders(placement, 1), (std::vector<ChunkPlace>{{1, 0}, {2, 1}}));
  EXPECT_EQ(placement.next({1, 0}), (ChunkPlace{2, 0}));
  EXPECT_EQ(placement.next({2, 1}), (ChunkPlace{1, 1}));
  for (const std::int64_t end : {0, 3}) {
    EXPECT_TRUE(placement.holds_embedding(end));
    EXPECT_TRUE(placement.holds_head(end));
  }
}

TEST(Placement, EveryChunkHasAsManyPlacesAndItsHolderIsOneOfThem) {
  for (const Case& c : kCases) {
    const Placement placement(c.kind, c.positions, c.chunks);
    const std::int64_t copies = c.positions * c.chunks / placement.model_chunk_count();
    for (std::int64_t chunk = 0; chunk < placement.model_chunk_count(); ++chunk) {
      const std::vector<ChunkPlace> places = holders(placement, chunk);
      ASSERT_EQ(std::ssize(places), copies);
      EXPECT_THAT(places, ::testing::Contains(placement.holder(chunk)));
    }
  }
}

TEST(Placement, RoutesGoThroughAllChunksInOrderAndBack) {
  for (const Case& c : kCases) {
    const Placement placement(c.kind, c.positions, c.chunks);
    for (const ChunkPlace& start : holders(placement, 0)) {
      ChunkPlace place = start;
      for (std::int64_t chunk = 1; chunk < placement.model_chunk_count(); ++chunk) {
        const auto next = placement.next(place);
        ASSERT_TRUE(next);
        EXPECT_EQ(placement.model_chunk_index(*next), chunk);
        EXPECT_EQ(placement.previous_chunk_place(*next), place);
        place = *next;
      }
      EXPECT_FALSE(placement.next(place));
      EXPECT_FALSE(placement.previous_chunk_place(start));
    }
  }
}

}  // namespace
}  // namespace stepwright::schedule
