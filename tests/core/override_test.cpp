#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "stepwright/core/document.h"
#include "tests/core/refusal.h"

namespace stepwright {
namespace {

using testing::HasSubstr;

const char kJob[] =
    "batch: {sequences: 512, length: 4096}\n"
    "layers: [40, 41]\n"
    "rate: 0.3\n"
    "name: ring\n"
    "version: \"5\"\n"
    "overlap:\n";

std::string with(const std::string& path, const std::string& value) {
  return YamlJsonDocument::parse(kJob, "job.yaml").copy_with_replaced_scalar(path, value).to_yaml();
}

std::string refused_change(const std::string& path, const std::string& value) {
  return refusal([&] { (void)with(path, value); });
}

TEST(Override, ReplacesAScalar) {
  EXPECT_THAT(with("batch.length", "8192"), HasSubstr("{sequences: 512, length: 8192}"));
  EXPECT_THAT(with("layers.1", "39"), HasSubstr("layers: [40, 39]"));
  EXPECT_THAT(with("name", "a: b # c"), HasSubstr("name: \"a: b # c\""));
  EXPECT_THAT(with("name", "null"), HasSubstr("name: null"));
}

TEST(Override, LeavesTheOriginalAsItWas) {
  const YamlJsonDocument job = YamlJsonDocument::parse(kJob, "job.yaml");
  const YamlJsonDocument changed = job.copy_with_replaced_scalar("rate", "1");
  EXPECT_EQ(job.root().get("rate").number(), 0.3);
  EXPECT_EQ(changed.root().get("rate").number(), 1.0);
  EXPECT_EQ(changed.root().get("rate").file_position_text(), "job.yaml: rate");
}

TEST(Override, ReadsQuotesAsText) {
  EXPECT_THAT(with("name", "\"7\""), HasSubstr("name: \"7\""));
  EXPECT_THAT(with("name", "'2x'"), HasSubstr("name: 2x"));
  EXPECT_THAT(with("name", "7"), HasSubstr("name: 7\n"));
}

TEST(Override, MultipliesTheNumberThatIsThere) {
  EXPECT_THAT(with("batch.length", "2x"), HasSubstr("length: 8192}"));
  EXPECT_THAT(with("batch.length", "0.5x"), HasSubstr("length: 2048}"));
  EXPECT_THAT(with("layers.0", "0.0125x"), HasSubstr("layers: [0.5, 41]"));
  EXPECT_THAT(with("rate", "1e1x"), HasSubstr("rate: 3\n"));
}

TEST(Override, MultipliesLargeIntegersExactly) {
  const YamlJsonDocument big = YamlJsonDocument::parse("v: 3074457345618258603", "x");
  EXPECT_EQ(big.copy_with_replaced_scalar("v", "3x").to_yaml(), "v: 9223372036854775808\n");
  const YamlJsonDocument odd = YamlJsonDocument::parse("v: 4503599627370497", "x");
  EXPECT_EQ(odd.copy_with_replaced_scalar("v", "3x").to_yaml(), "v: 13510798882111491\n");
}

TEST(Override, CreatesMissingKeys) {
  EXPECT_THAT(with("sharding.states", "III"), HasSubstr("sharding:\n  states: III\n"));
  EXPECT_THAT(with("overlap.tensor", "true"), HasSubstr("overlap:\n  tensor: true\n"));
  EXPECT_EQ(YamlJsonDocument::parse("", "x").copy_with_replaced_scalar("a.b", "1").to_yaml(),
            "a:\n  b: 1\n");
}

TEST(Override, RejectsPathsThatLeadNowhere) {
  EXPECT_EQ(refused_change("rate.x", "1"),
            "job.yaml: cannot set rate.x to '1': rate is 0.3, which has no keys; if rate takes a "
            "mapping, set rate='{x: 1}' "
            "instead");
  EXPECT_THAT(refused_change("rate.x.y", "1"), HasSubstr("set rate='{x: {y: 1}}' instead"));
  EXPECT_THAT(refused_change("layers.2", "1"), HasSubstr("the list has 2 elements"));
  EXPECT_THAT(refused_change("layers.first", "1"), HasSubstr("'first' should be the number"));
  EXPECT_THAT(refused_change("layers.-1", "1"), HasSubstr("'-1' should be the number"));
  EXPECT_THAT(refused_change("batch", "1"),
              HasSubstr("it is a mapping; only a scalar can be replaced"));
  EXPECT_THAT(refused_change("layers", "1"),
              HasSubstr("it is a list; only a scalar can be replaced"));
  for (const std::string path : {"", ".", "batch.", ".batch", "a..b"}) {
    EXPECT_THAT(refused_change(path, "1"), HasSubstr("the path has an empty part"));
  }
}

TEST(Override, RejectsPathsThatNoFileCouldHold) {
  std::string deep = "a";
  for (int i = 0; i < 100; ++i) deep += ".a";
  EXPECT_THAT(refused_change(deep, "1"), HasSubstr("nested deeper than 100 levels"));
  EXPECT_THAT(refused_change(std::string(241, 'k'), "1"), HasSubstr("a key may have 240 bytes"));
  EXPECT_THAT(refused_change("\xFF", "1"), HasSubstr("the path is not UTF-8"));
}

TEST(Override, RejectsFactorsOfWhatIsNoNumber) {
  EXPECT_THAT(refused_change("name", "2x"), HasSubstr("the present value is 'ring'"));
  EXPECT_THAT(refused_change("version", "2x"), HasSubstr("the present value is \"5\""));
  EXPECT_THAT(refused_change("missing", "2x"), HasSubstr("the present value is empty"));
  EXPECT_THAT(refused_change("batch.length", "1e308x"), HasSubstr("the product is too large"));
}

TEST(Override, RejectsValuesThatAreNoScalar) {
  EXPECT_THAT(refused_change("name", "[1, 2]"), HasSubstr("it is not a scalar"));
  EXPECT_THAT(refused_change("name", "{a: 1}"), HasSubstr("it is not a scalar"));
  EXPECT_THAT(refused_change("name", ""), HasSubstr("the value is empty"));
  EXPECT_THAT(refused_change("name", "\xFF"), HasSubstr("the value is not UTF-8"));
  EXPECT_THAT(refused_change("name", "\"open"), HasSubstr("the value of name:"));
  EXPECT_THAT(refused_change("name", "'a': 1"), HasSubstr("it is not a scalar"));
}

}  // namespace
}  // namespace stepwright
