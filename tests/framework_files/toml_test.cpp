#include "stepwright/framework_files/forms/toml.h"

#include <gtest/gtest.h>

#include <string>

#include "stepwright/core/error.h"

namespace stepwright::framework_files {
namespace {

TEST(Toml, ReadsSectionsWithTheirPlaces) {
  const YamlJsonDocument document =
      parse_toml("[a]\nsize = 8\nword = \"8\"\n[a.b]\nlist = [1, 2.5, true]\n", "x.toml");
  const DocumentNode a = document.root().get("a");
  EXPECT_EQ(a.get("size").integer(), 8);
  EXPECT_EQ(a.get("size").file_position_text(), "x.toml:2:8: a.size");
  EXPECT_FALSE(a.get("word").is_number());
  EXPECT_EQ(a.get("b").get("list").at(1).number(), 2.5);
}

TEST(Toml, RefusesMalformedTextsAndWhatNoSettingIs) {
  for (const char* text : {"[a", "a = ", "a = 1\na = 2", "a = 1979-05-27", "a = inf", "a = nan"}) {
    EXPECT_THROW(parse_toml(text, "x.toml"), Error) << text;
  }
}

/// toml++ calls itself recursively for each part of a key.
TEST(Toml, CountsThePartsOfAKeyBeforeItIsRead) {
  std::string parts;
  for (int i = 0; i < 99; ++i) parts += ".a";
  EXPECT_NO_THROW(parse_toml("a" + parts + " = 1", "x.toml"));
  for (const std::string& text : {"a" + parts + ".a = 1", "b = 1\n[a" + parts + " . \"x\"]",
                                  "x = {a" + parts + ".'a' = 1}"}) {
    try {
      parse_toml(text, "x.toml");
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("nested deeper than 100 levels"), std::string::npos);
    }
  }
  std::string dots(1'000, '.');
  EXPECT_NO_THROW(parse_toml("a = \"" + dots + "\"\nb = '" + dots + "'\n# " + dots, "x.toml"));
  EXPECT_NO_THROW(parse_toml("a = \"\"\"\n" + dots + "\\\"\"\" " + dots + "\"\"\"", "x.toml"));
  std::string numbers;
  for (int i = 0; i < 1'000; ++i) numbers += "1.5, ";
  EXPECT_NO_THROW(parse_toml("a = [" + numbers + "]", "x.toml"));
}

}  // namespace
}  // namespace stepwright::framework_files
