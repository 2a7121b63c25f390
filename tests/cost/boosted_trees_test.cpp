#include "stepwright/cost/laws/boosted_trees.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "stepwright/core/error.h"

namespace stepwright::cost {
namespace {

BoostedTrees trees(const std::vector<std::string>& boosted_tree_texts) {
  return {0.5F, boosted_tree_texts, 2, "test"};
}

TEST(BoostedTrees, AddTheLeafThatARowReachesInEachTree) {
  const std::vector<std::string> boosted_tree_texts = {"0<1 0.25 1<-2 2 4", "0.125"};
  const BoostedTrees two = trees(boosted_tree_texts);
  EXPECT_EQ(two.predict_from_features(std::array{0.0F, 0.0F}), 0.5 + 0.25 + 0.125);
  EXPECT_EQ(two.predict_from_features(std::array{1.0F, -3.0F}),
            0.5 + 2 + 0.125);  // the threshold goes up
  EXPECT_EQ(two.predict_from_features(std::array{7.0F, -2.0F}), 0.5 + 4 + 0.125);
  EXPECT_EQ(two.boosted_tree_texts(), boosted_tree_texts);
}

TEST(BoostedTrees, NoTreesAddNothing) {
  EXPECT_TRUE(BoostedTrees().empty());
  EXPECT_EQ(BoostedTrees().predict_from_features({}), 0);
}

TEST(BoostedTrees, RefuseWhatIsNoTree) {
  for (const char* text :
       {"", "x", "0<1", "0<1 2", "0<1 2 3 4", "2<1 0 0", "-1<1 0 0", "0< 1 2", "0<1  2 3"}) {
    EXPECT_THROW((void)trees({text}), Error) << text;
  }
  try {
    (void)trees({"1", "3<1 0 0"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("test: tree 1: `3<1`"));
  }
}

}  // namespace
}  // namespace stepwright::cost
