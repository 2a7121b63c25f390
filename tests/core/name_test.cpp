#include "stepwright/core/name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "stepwright/core/document.h"
#include "tests/core/refusal.h"

namespace stepwright {
namespace {

/// Returns the error for a name that a file has in double quotes.
std::string name_refusal(const std::string& literal) {
  const YamlJsonDocument document =
      YamlJsonDocument::parse("model:\n  name: \"" + literal + "\"\n", "job.yaml");
  return refusal([&] { read_name(document.root().get("model").get("name")); });
}

TEST(Name, IsAnyLineOfText) {
  for (const char* text :
       {"", "llama 3", "$(touch x)", "it's \"x\" # y: z", "--flag", "Größe \u20ac"}) {
    EXPECT_EQ(invalid_name_reason(text), "") << text;
  }
}

TEST(Name, RefusesWhatATerminalObeys) {
  EXPECT_EQ(name_refusal("x\\ntouch y"),
            "job.yaml:2:9: model.name: must be one line of at most 200 characters, without control "
            "characters and marks that reorder text; it is 'x\\x0atouch y'");
  for (const char* escape :
       {"\\0", "\\r", "\\t", "\\e", "\\x7f", "\\x85", "\\x9b", "\\u2028", "\\u2029", "\\u202a",
        "\\u202e", "\\u2066", "\\u2069", "\\u200e", "\\u200f", "\\u061c"}) {
    EXPECT_THAT(name_refusal(std::string("a") + escape), testing::HasSubstr("must be one line"))
        << escape;
  }
}

TEST(Name, RefusesMalformedBytes) {
  EXPECT_THAT(invalid_name_reason("a\xff"), testing::EndsWith("it is 'a\\xff'"));
}

TEST(Name, CountsCharactersOfALongOne) {
  const std::string longest = std::string(199, 'x') + "\u20ac";
  EXPECT_EQ(invalid_name_reason(longest), "");
  EXPECT_THAT(invalid_name_reason(longest + "x"), testing::EndsWith("' of 201 characters"));
  EXPECT_EQ(invalid_name_reason(longest + "x", kLongestPath), "");
}

}  // namespace
}  // namespace stepwright
