#include "stepwright/schedule/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace stepwright::schedule {
namespace {

struct Case {
  ModelChunkPlacementKind kind;
  std::int64_t positions;
  std::int64_t chunks;
};
constexpr Case kCases[] = {
    {ModelChunkPlacementKind::kCyclic, 1, 1},   {ModelChunkPlacementKind::kCyclic, 4, 1},
    {ModelChunkPlacementKind::kCyclic, 3, 4},   {ModelChunkPlacementKind::kCyclic, 1, 3},
    {ModelChunkPlacementKind::kV, 1, 2},        {ModelChunkPlacementKind::kV, 4, 2},
    {ModelChunkPlacementKind::kMirrored, 1, 2}, {ModelChunkPlacementKind::kMirrored, 4, 2}};

/// Returns the positions that hold a chunk of the model.
std::vector<ModelChunkPosition> holders(const ModelChunkPlacement& placement, std::int64_t chunk) {
  std::vector<ModelChunkPosition> places;
  for (std::int64_t position = 0; position < placement.positions(); ++position) {
    for (std::int64_t own = 0; own < placement.chunks(); ++own) {
      if (placement.model_chunk_index({position, own}) == chunk) places.push_back({position, own});
    }
  }
  return places;
}

TEST(ModelChunkPlacement, CyclicDealsChunksOutInTurn) {
  const ModelChunkPlacement placement(ModelChunkPlacementKind::kCyclic, 4, 2);
  EXPECT_EQ(placement.model_chunk_count(), 8);
  EXPECT_EQ(placement.model_chunk_index({3, 0}), 3);
  EXPECT_EQ(placement.model_chunk_index({0, 1}), 4);
  EXPECT_EQ(placement.next_chunk_place({3, 0}), (ModelChunkPosition{0, 1}));
  EXPECT_EQ(placement.next_chunk_place_of_backward({0, 1}), (ModelChunkPosition{3, 0}));
  EXPECT_TRUE(placement.holds_embedding(0));
  EXPECT_TRUE(placement.holds_head(3));
  EXPECT_FALSE(placement.holds_head(0));
}

TEST(ModelChunkPlacement, VGoesDownAndUpAgain) {
  const ModelChunkPlacement placement(ModelChunkPlacementKind::kV, 4, 2);
  EXPECT_EQ(placement.model_chunk_index({1, 0}), 1);
  EXPECT_EQ(placement.model_chunk_index({1, 1}), 6);
  // At the turning point the neighbour is the same position: nothing is sent.
  EXPECT_EQ(placement.next_chunk_place({3, 0}), (ModelChunkPosition{3, 1}));
  EXPECT_EQ(placement.next_chunk_place({2, 1}), (ModelChunkPosition{1, 1}));
  EXPECT_TRUE(placement.holds_embedding(0));
  EXPECT_TRUE(placement.holds_head(0));
  EXPECT_FALSE(placement.holds_head(3));
}

TEST(ModelChunkPlacement, MirroredHasTwoHoldersOfEachChunk) {
  const ModelChunkPlacement placement(ModelChunkPlacementKind::kMirrored, 4, 2);
  EXPECT_EQ(placement.model_chunk_count(), 4);
  EXPECT_EQ(holders(placement, 1), (std::vector<ModelChunkPosition>{{1, 0}, {2, 1}}));
  EXPECT_EQ(placement.next_chunk_place({1, 0}), (ModelChunkPosition{2, 0}));
  EXPECT_EQ(placement.next_chunk_place({2, 1}), (ModelChunkPosition{1, 1}));
  for (const std::int64_t end : {0, 3}) {
    EXPECT_TRUE(placement.holds_embedding(end));
    EXPECT_TRUE(placement.holds_head(end));
  }
}

TEST(ModelChunkPlacement, EveryChunkHasAsManyPlacesAndItsHolderIsOneOfThem) {
  for (const Case& c : kCases) {
    const ModelChunkPlacement placement(c.kind, c.positions, c.chunks);
    const std::int64_t copies = c.positions * c.chunks / placement.model_chunk_count();
    for (std::int64_t chunk = 0; chunk < placement.model_chunk_count(); ++chunk) {
      const std::vector<ModelChunkPosition> places = holders(placement, chunk);
      ASSERT_EQ(std::ssize(places), copies);
      EXPECT_THAT(places, ::testing::Contains(placement.place_of_model_chunk(chunk)));
    }
  }
}

TEST(ModelChunkPlacement, RoutesGoThroughAllChunksInOrderAndBack) {
  for (const Case& c : kCases) {
    const ModelChunkPlacement placement(c.kind, c.positions, c.chunks);
    for (const ModelChunkPosition& start : holders(placement, 0)) {
      ModelChunkPosition place = start;
      for (std::int64_t chunk = 1; chunk < placement.model_chunk_count(); ++chunk) {
        const auto next = placement.next_chunk_place(place);
        ASSERT_TRUE(next);
        EXPECT_EQ(placement.model_chunk_index(*next), chunk);
        EXPECT_EQ(placement.next_chunk_place_of_backward(*next), place);
        place = *next;
      }
      EXPECT_FALSE(placement.next_chunk_place(place));
      EXPECT_FALSE(placement.next_chunk_place_of_backward(start));
    }
  }
}

}  // namespace
}  // namespace stepwright::schedule
