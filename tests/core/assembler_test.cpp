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
  assembler.begin_container(DocumentTree::make_empty_mapping());
  EXPECT_TRUE(assembler.expects_key());
  assembler.add_scalar_value(DocumentTree("a"));
  EXPECT_EQ(assembler.yaml_key_without_value()->text, "a");
  assembler.begin_container(DocumentTree::make_empty_sequence());
  assembler.add_scalar_value(DocumentTree(1));
  assembler.end_document_container();
  assembler.end_document_container();
  EXPECT_EQ(
      assembler.finished_document_tree(),
      DocumentTree::make_empty_mapping().set("a", DocumentTree::make_empty_sequence().add(1)));
}

TEST(DocumentTreeAssembler, RejectsTooManyValues) {
  const std::string file = "f";
  DocumentTreeAssembler assembler(file);
  assembler.begin_container(DocumentTree::make_empty_sequence());
  for (std::size_t i = 0; i < kMaxYamlOrJsonValues; ++i) assembler.add_scalar_value(DocumentTree());
  EXPECT_EQ(refusal([&] { assembler.add_scalar_value(DocumentTree()); }),
            "f: more than 2000000 values");
}

TEST(DocumentTreeAssembler, CountsLinesAndColumnsFromOne) {
  EXPECT_EQ(text_position_at_offset("ab\ncd", 0).line, 1U);
  EXPECT_EQ(text_position_at_offset("ab\ncd", 4).line, 2U);
  EXPECT_EQ(text_position_at_offset("ab\ncd", 4).column, 2U);
  EXPECT_EQ(text_position_at_offset("ab", 99).column, 3U);
}

}  // namespace
}  // namespace stepwright
