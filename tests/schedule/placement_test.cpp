#include "stepwright/schedule/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace stepwright::schedule {
namespace {

struct Case {
  PlacementKind kind;
  std::int64_t positions;
  std::int64_t chunks;
};
constexpr Case kCases[] = {{PlacementKind::kCyclic, 1, 1},   {PlacementKind::kCyclic, 4, 1},
                           {PlacementKind::kCyclic, 3, 4},   {PlacementKind::kCyclic, 1, 3},
                           {PlacementKind::kV, 1, 2},        {PlacementKind::kV, 4, 2},
                           {PlacementKind::kMirrored, 1, 2}, {PlacementKind::kMirrored, 4, 2}};

/// Returns the positions that hold a chunk of the model.
std::vector<Place> holders(const Placement& placement, std::int64_t chunk) {
  std::vector<Place> places;
  for (std::int64_t position = 0; position < placement.positions(); ++position) {
    for (std::int64_t own = 0; own < placement.chunks(); ++own) {
      if (placement.model_chunk({position, own}) == chunk) places.push_back({position, own});
    }
  }
  return places;
}

TEST(Placement, CyclicDealsChunksOutInTurn) {
  const Placement placement(PlacementKind::kCyclic, 4, 2);
  EXPECT_EQ(placement.model_chunks(), 8);
  EXPECT_EQ(placement.model_chunk({3, 0}), 3);
  EXPECT_EQ(placement.model_chunk({0, 1}), 4);
  EXPECT_EQ(placement.next({3, 0}), (Place{0, 1}));
  EXPECT_EQ(placement.previous({0, 1}), (Place{3, 0}));
  EXPECT_TRUE(placement.holds_embedding(0));
  EXPECT_TRUE(placement.holds_head(3));
  EXPECT_FALSE(placement.holds_head(0));
}

TEST(Placement, VGoesDownAndUpAgain) {
  const Placement placement(PlacementKind::kV, 4, 2);
  EXPECT_EQ(placement.model_chunk({1, 0}), 1);
  EXPECT_EQ(placement.model_chunk({1, 1}), 6);
  // At the turning point the neighbour is the same position: nothing is sent.
  EXPECT_EQ(placement.next({3, 0}), (Place{3, 1}));
  EXPECT_EQ(placement.next({2, 1}), (Place{1, 1}));
  EXPECT_TRUE(placement.holds_embedding(0));
  EXPECT_TRUE(placement.holds_head(0));
  EXPECT_FALSE(placement.holds_head(3));
}

TEST(Placement, MirroredHasTwoHoldersOfEachChunk) {
  const Placement placement(PlacementKind::kMirrored, 4, 2);
  EXPECT_EQ(placement.model_chunks(), 4);
  EXPECT_EQ(holders(placement, 1), (std::vector<Place>{{1, 0}, {2, 1}}));
  EXPECT_EQ(placement.next({1, 0}), (Place{2, 0}));
  EXPECT_EQ(placement.next({2, 1}), (Place{1, 1}));
  for (const std::int64_t end : {0, 3}) {
    EXPECT_TRUE(placement.holds_embedding(end));
    EXPECT_TRUE(placement.holds_head(end));
  }
}

TEST(Placement, EveryChunkHasAsManyPlacesAndItsHolderIsOneOfThem) {
  for (const Case& c : kCases) {
    const Placement placement(c.kind, c.positions, c.chunks);
    const std::int64_t copies = c.positions * c.chunks / placement.model_chunks();
    for (std::int64_t chunk = 0; chunk < placement.model_chunks(); ++chunk) {
      const std::vector<Place> places = holders(placement, chunk);
      ASSERT_EQ(std::ssize(places), copies);
      EXPECT_THAT(places, ::testing::Contains(placement.holder(chunk)));
    }
  }
}

TEST(Placement, RoutesGoThroughAllChunksInOrderAndBack) {
  for (const Case& c : kCases) {
    const Placement placement(c.kind, c.positions, c.chunks);
    for (const Place& start : holders(placement, 0)) {
      Place place = start;
      for (std::int64_t chunk = 1; chunk < placement.model_chunks(); ++chunk) {
        const auto next = placement.next(place);
        ASSERT_TRUE(next);
        EXPECT_EQ(placement.model_chunk(*next), chunk);
        EXPECT_EQ(placement.previous(*next), place);
        place = *next;
      }
      EXPECT_FALSE(placement.next(place));
      EXPECT_FALSE(placement.previous(start));
    }
  }
}

}  // namespace
}  // namespace stepwright::schedule
