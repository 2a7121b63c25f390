#include "stepwright/core/assembler.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "stepwright/core/tree.h"
#include "tests/core/refusal.h"

namespace stepwright {
namespace {

TEST(DocumentTreeAssembler, PutsKeysAndValuesTogether) {
  const std::string file = "f";
  DocumentTreeAssembler assembler(file);
  assembler.open(Tree::mapping());
  EXPECT_TRUE(assembler.expects_key());
  assembler.leaf(Tree("a"));
  EXPECT_EQ(assembler.key_without_value()->text, "a");
  assembler.open(Tree::sequence());
  assembler.leaf(Tree(1));
  assembler.end_container();
  assembler.end_container();
  EXPECT_EQ(assembler.take_document_tree(), Tree::mapping().set("a", Tree::sequence().add(1)));
}

TEST(DocumentTreeAssembler, RejectsTooManyValues) {
  const std::string file = "f";
  DocumentTreeAssembler assembler(file);
  assembler.open(Tree::sequence());
  for (std::size_t i = 0; i < kMaxDocumentValues; ++i) assembler.leaf(Tree());
  EXPECT_EQ(refusal([&] { assembler.leaf(Tree()); }), "f: more than 2000000 values");
}

TEST(DocumentTreeAssembler, CountsLinesAndColumnsFromOne) {
  EXPECT_EQ(text_position_at_offset("ab\ncd", 0).line, 1U);
  EXPECT_EQ(text_position_at_offset("ab\ncd", 4).line, 2U);
  EXPECT_EQ(text_position_at_offset("ab\ncd", 4).column, 2U);
  EXPECT_EQ(text_position_at_offset("ab", 99).column, 3U);
}

}  // namespace
}  // namespace stepwright
