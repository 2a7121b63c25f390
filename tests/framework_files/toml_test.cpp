#include "stepwright/framework_files/forms/toml.h"

#include <gtest/gtest.h>

#include "stepwright/core/error.h"

namespace stepwright::framework_files {
namespace {

TEST(Toml, ReadsSectionsWithTheirPlaces) {
  const Document document =
      parse_toml("[a]\nsize = 8\nword = \"8\"\n[a.b]\nlist = [1, 2.5, true]\n", "x.toml");
  const Node a = document.root().get("a");
  EXPECT_EQ(a.get("size").integer(), 8);
  EXPECT_EQ(a.get("size").where(), "x.toml:2:8: a.size");
  EXPECT_FALSE(a.get("word").is_number());
  EXPECT_EQ(a.get("b").get("list").at(1).number(), 2.5);
}

TEST(Toml, RefusesMalformedTextsAndWhatNoSettingIs) {
  for (const char* text : {"[a", "a = ", "a = 1\na = 2", "a = 1979-05-27", "a = inf", "a = nan"}) {
    EXPECT_THROW(parse_toml(text, "x.toml"), Error) << text;
  }
}

}  // namespace
}  // namespace stepwright::framework_files
