#include "stepwright/core/mapping_builder.h"

#include <gtest/gtest.h>

#include <string>

namespace stepwright {
namespace {

TEST(TreeMappingBuilder, MakesWhatSettingKeyByKeyMakes) {
  DocumentTree tree = DocumentTree::make_empty_mapping().set("kept", 1).set("replaced", 2);
  TreeMappingBuilder builder(tree);
  for (const char* key : {"replaced", "new", "12", "new"}) {
    builder.set(key, key);
    tree.set(key, key);
  }
  ASSERT_NE(builder.find("new"), nullptr);
  EXPECT_EQ(builder.find("new")->text, "new");
  EXPECT_EQ(builder.find("absent"), nullptr);
  EXPECT_EQ(builder.finished_mapping(), tree);
}

}  // namespace
}  // namespace stepwright
