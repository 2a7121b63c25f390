#include "stepwright/core/nearest.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace stepwright {
namespace {

constexpr std::string_view kKnown[] = {"tensor", "pipeline", "context", "expert", "data"};

TEST(KnownWords, AreAllNamedWhereTheyAreFew) {
  constexpr std::string_view kFew[] = {"ring", "tree"};
  EXPECT_EQ(unknown_word_hint_text("rinf", kFew, "all"),
            "; did you mean 'ring'? (allowed: ring, tree)");
}

TEST(KnownWords, AreTheNearestThreeWhereTheyAreMany) {
  std::vector<std::string> names;
  for (int i = 10; i < 50; ++i) names.push_back("word-" + std::to_string(i));
  const std::vector<std::string_view> many(names.begin(), names.end());
  EXPECT_EQ(unknown_word_hint_text("word-1o", many, "list them"),
            "; did you mean 'word-10'? (all 40: list them)");
  EXPECT_EQ(unknown_word_hint_text("zzzzz33", many, "list them"),
            "; the nearest are word-33, word-13, word-23 (all 40: list them)");
  EXPECT_EQ(unknown_word_hint_text("", many, "list them"),
            "; the nearest are word-10, word-11, word-12 (all 40: list them)");
}

TEST(Nearest, CountsEdits) {
  EXPECT_EQ(edit_distance("ring", "ring"), 0U);
  EXPECT_EQ(edit_distance("rign", "ring"), 1U);   // A swap.
  EXPECT_EQ(edit_distance("rin", "ring"), 1U);    // A letter too few.
  EXPECT_EQ(edit_distance("rings", "ring"), 1U);  // One too many.
  EXPECT_EQ(edit_distance("rang", "ring"), 1U);   // Another.
  EXPECT_EQ(edit_distance("", "ring"), 4U);
  EXPECT_EQ(edit_distance("ca", "abc"), 3U);  // No place is edited twice.
  EXPECT_EQ(edit_distance("RING", "ring"), 0U);
}

TEST(Nearest, FindsTheWordThatWasMeant) {
  EXPECT_EQ(nearest_known_word("tesnor", kKnown), "tensor");
  EXPECT_EQ(nearest_known_word("pipelines", kKnown), "pipeline");
  EXPECT_EQ(nearest_known_word("Data", kKnown), "data");
}

TEST(Nearest, FindsNothingWhenAllAreTooFar) {
  EXPECT_EQ(nearest_known_word("zero", kKnown), std::nullopt);
  EXPECT_EQ(nearest_known_word("", kKnown), std::nullopt);
  EXPECT_EQ(nearest_known_word("x", kKnown), std::nullopt);
  EXPECT_EQ(nearest_known_word("tensor", {}), std::nullopt);
  EXPECT_EQ(nearest_known_word(std::string(100'000, 'a'), kKnown), std::nullopt);
}

TEST(Nearest, TakesTheFirstOfEqualWords) {
  constexpr std::string_view kWords[] = {"ringb", "ringa"};
  EXPECT_EQ(nearest_known_word("ringc", kWords), "ringb");
}

TEST(HintOf, NamesWhatAWordBeginsAndWhatIsNear) {
  constexpr std::string_view kNames[] = {"dgx-a100-40g", "dgx-a100-80g", "dgx-h100", "nic",
                                         "nics_per_node"};
  EXPECT_EQ(spelling_hint("dgx-a100", kNames), "; did you mean 'dgx-a100-40g' or 'dgx-a100-80g'?");
  EXPECT_EQ(spelling_hint("DGX-A100-8", kNames), "; did you mean 'dgx-a100-80g'?");
  EXPECT_EQ(spelling_hint("nics", kNames), "; did you mean 'nics_per_node' or 'nic'?");
  EXPECT_EQ(spelling_hint("dgx-h1000", kNames), "; did you mean 'dgx-h100'?");
  EXPECT_EQ(spelling_hint("a100-40g", kNames), "; did you mean 'dgx-a100-40g'?");
  EXPECT_EQ(spelling_hint("bus", kNames), "");
}

TEST(ListOf, JoinsWords) {
  EXPECT_EQ(join_with_commas(kKnown), "tensor, pipeline, context, expert, data");
  EXPECT_EQ(join_with_commas({}), "");
}

}  // namespace
}  // namespace stepwright
