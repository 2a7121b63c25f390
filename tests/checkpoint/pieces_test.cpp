#include "stepwright/checkpoint/pieces.h"

#include <gtest/gtest.h>

namespace stepwright::testing {
namespace {

TEST(Pieces, ColumnsOfAMatrixAreOnePiece) {
  std::vector<checkpoint::Piece> pieces;
  for (std::int64_t row = 0; row < 5; ++row) checkpoint::add_run(pieces, row * 8 + 2, 3);
  EXPECT_EQ(pieces, (std::vector<checkpoint::Piece>{{2, 3, 8, 5}}));
  EXPECT_EQ(checkpoint::elements_of(pieces), 15);
}

TEST(Pieces, RowsThatTouchAreOneRun) {
  std::vector<checkpoint::Piece> pieces;
  for (std::int64_t row = 4; row < 7; ++row) checkpoint::add_run(pieces, row * 8, 8);
  EXPECT_EQ(pieces, (std::vector<checkpoint::Piece>{{32, 24, 0, 1}}));
}

TEST(Pieces, ACutInsideARowStandsByItself) {
  std::vector<checkpoint::Piece> pieces;
  checkpoint::add_run(pieces, 5, 1);
  for (std::int64_t row = 1; row < 4; ++row) checkpoint::add_run(pieces, row * 8 + 2, 4);
  checkpoint::add_run(pieces, 34, 2);
  EXPECT_EQ(pieces, (std::vector<checkpoint::Piece>{{5, 1, 0, 1}, {10, 4, 8, 3}, {34, 2, 0, 1}}));
}

TEST(Pieces, RunsStandOneAfterTheOther) {
  std::vector<stepwright::checkpoint::Run> runs;
  const std::vector<checkpoint::Piece> pieces{{2, 3, 8, 2}, {40, 1, 0, 1}};
  checkpoint::append_runs(runs, pieces, 7);
  ASSERT_EQ(runs.size(), 3U);
  EXPECT_EQ(runs[1].begin, 10);
  EXPECT_EQ(runs[1].at, 3);
  EXPECT_EQ(runs[2].at, 6);
  EXPECT_EQ(runs[2].source, 7);
}

TEST(Pieces, AFlawIsAHoleOrAnOverlap) {
  std::vector<stepwright::checkpoint::Run> whole{{4, 4, 0, 0}, {0, 4, 1, 0}};
  EXPECT_EQ(checkpoint::first_flaw(whole, 8), -1);
  EXPECT_EQ(checkpoint::first_flaw(whole, 9), 8);
  std::vector<stepwright::checkpoint::Run> overlap{{0, 4, 0, 0}, {3, 5, 1, 0}};
  EXPECT_EQ(checkpoint::first_flaw(overlap, 8), 3);
  std::vector<stepwright::checkpoint::Run> hole{{0, 4, 0, 0}, {5, 3, 1, 0}};
  EXPECT_EQ(checkpoint::first_flaw(hole, 8), 4);
}

}  // namespace
}  // namespace stepwright::testing
