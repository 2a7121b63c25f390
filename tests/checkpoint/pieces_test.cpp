#include "stepwright/checkpoint/pieces.h"

#include <gtest/gtest.h>

namespace stepwright::testing {
namespace {

TEST(Pieces, ColumnsOfAMatrixAreOnePiece) {
  std::vector<checkpoint::StridedShardPiece> pieces;
  for (std::int64_t row = 0; row < 5; ++row) checkpoint::append_element_run(pieces, row * 8 + 2, 3);
  EXPECT_EQ(pieces, (std::vector<checkpoint::StridedShardPiece>{{2, 3, 8, 5}}));
  EXPECT_EQ(checkpoint::pieces_element_count(pieces), 15);
}

TEST(Pieces, RowsThatTouchAreOneRun) {
  std::vector<checkpoint::StridedShardPiece> pieces;
  for (std::int64_t row = 4; row < 7; ++row) checkpoint::append_element_run(pieces, row * 8, 8);
  EXPECT_EQ(pieces, (std::vector<checkpoint::StridedShardPiece>{{32, 24, 0, 1}}));
}

TEST(Pieces, ACutInsideARowStandsByItself) {
  std::vector<checkpoint::StridedShardPiece> pieces;
  checkpoint::append_element_run(pieces, 5, 1);
  for (std::int64_t row = 1; row < 4; ++row) checkpoint::append_element_run(pieces, row * 8 + 2, 4);
  checkpoint::append_element_run(pieces, 34, 2);
  EXPECT_EQ(pieces, (std::vector<checkpoint::StridedShardPiece>{
                        {5, 1, 0, 1}, {10, 4, 8, 3}, {34, 2, 0, 1}}));
}

TEST(Pieces, RunsStandOneAfterTheOther) {
  std::vector<stepwright::checkpoint::StoredElementRun> runs;
  const std::vector<checkpoint::StridedShardPiece> pieces{{2, 3, 8, 2}, {40, 1, 0, 1}};
  checkpoint::append_element_runs_of_pieces(runs, pieces, 7);
  ASSERT_EQ(runs.size(), 3U);
  EXPECT_EQ(runs[1].begin, 10);
  EXPECT_EQ(runs[1].at, 3);
  EXPECT_EQ(runs[2].at, 6);
  EXPECT_EQ(runs[2].source, 7);
}

TEST(Pieces, AFlawIsAHoleOrAnOverlap) {
  const auto flaw = [](std::vector<checkpoint::StridedShardPiece> pieces, std::int64_t elements) {
    return checkpoint::first_miscovered_element(pieces, elements);
  };
  EXPECT_EQ(flaw({{4, 4, 0, 1}, {0, 4, 0, 1}}, 8), -1);
  EXPECT_EQ(flaw({{4, 4, 0, 1}, {0, 4, 0, 1}}, 9), 8);
  EXPECT_EQ(flaw({{0, 4, 0, 1}, {3, 5, 0, 1}}, 8), 3);
  EXPECT_EQ(flaw({{0, 4, 0, 1}, {5, 3, 0, 1}}, 8), 4);
  EXPECT_EQ(flaw({{0, 1, 4, 2}, {1, 3, 4, 2}}, 8), -1);
  EXPECT_EQ(flaw({{0, 1, 4, 2}, {1, 3, 4, 1}}, 8), 5);
  EXPECT_EQ(flaw({{0, 1, 4, 2}, {1, 3, 3, 2}}, 8), 4);
}

/// Listing every run of elements would need more memory than there is.
TEST(Pieces, AFlawIsFoundWithoutALargeShapesRuns) {
  constexpr std::int64_t kMany = std::int64_t{1} << 40;
  const std::vector<checkpoint::StridedShardPiece> touching{{0, 1, 1, kMany}};
  EXPECT_EQ(checkpoint::first_miscovered_element(touching, kMany), -1);
  const std::vector<checkpoint::StridedShardPiece> apart{{0, 1, 2, kMany / 2}};
  EXPECT_EQ(checkpoint::first_miscovered_element(apart, kMany), 1);
}

}  // namespace
}  // namespace stepwright::testing
