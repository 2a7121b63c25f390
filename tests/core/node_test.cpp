#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "stepwright/core/document.h"
#include "stepwright/core/dtype.h"
#include "stepwright/core/error.h"
#include "stepwright/core/tree.h"
#include "tests/core/refusal.h"

namespace stepwright {
namespace {

using testing::HasSubstr;

/// Reads a document with one field, `v`, in different ways.
class Field {
 public:
  explicit Field(const std::string& spelling)
      : document_(YamlJsonDocument::parse("v: " + spelling + "\n", "f")) {}

  [[nodiscard]] DocumentNode node() const { return document_.root().get("v"); }
  [[nodiscard]] std::int64_t integer() const { return node().integer(); }
  [[nodiscard]] std::string refused_integer(std::int64_t low = INT64_MIN,
                                            std::int64_t high = INT64_MAX) const {
    return refusal([&] { (void)node().integer(low, high); });
  }
  [[nodiscard]] std::string refused_number() const {
    return refusal([&] { (void)node().number(); });
  }

 private:
  YamlJsonDocument document_;
};

TEST(DocumentNode, ReadsIntegersExactly) {
  EXPECT_EQ(Field("40e6").integer(), 40'000'000);
  EXPECT_EQ(Field("-7").integer(), -7);
  EXPECT_EQ(Field("9223372036854775807").integer(), INT64_MAX);
  EXPECT_EQ(Field("-9223372036854775808").integer(), INT64_MIN);
  EXPECT_EQ(Field("9007199254740993").integer(), 9007199254740993);
}

TEST(DocumentNode, RejectsIntegersOutOfRange) {
  EXPECT_EQ(Field("0").refused_integer(1, 8), "f:1:4: v: must be an integer from 1 to 8; it is 0");
  EXPECT_EQ(Field("0").refused_integer(1),
            "f:1:4: v: must be an integer of at least 1 and below 2^63; it is 0");
  EXPECT_EQ(Field("9223372036854775808").refused_integer(),
            "f:1:4: v: must be an integer from -9223372036854775808 to 9223372036854775807; it is "
            "9223372036854775808");
}

TEST(DocumentNode, RejectsWhatIsNoInteger) {
  EXPECT_THAT(Field("2.5").refused_integer(1, 8), HasSubstr("from 1 to 8; it is 2.5"));
  EXPECT_THAT(Field("0x10").refused_integer(), HasSubstr("it is '0x10', which is not a number"));
  EXPECT_THAT(Field("1_000").refused_integer(), HasSubstr("it is '1_000', which is not a number"));
  EXPECT_THAT(Field("four").refused_integer(), HasSubstr("it is 'four', which is not a number"));
  EXPECT_THAT(Field("many").refused_integer(1, 8), testing::EndsWith("which is not a number"));
  EXPECT_THAT(Field("many").refused_integer(1, 4096), HasSubstr("not a number (as in 4096)"));
  EXPECT_THAT(Field("many").refused_integer(), HasSubstr("not a number (as in 4096, 40e6)"));
  EXPECT_THAT(Field("many").refused_number(), HasSubstr("not a number (as in 4096, 0.5, 40e6)"));
  EXPECT_THAT(Field("[1]").refused_integer(), HasSubstr("it is a list"));
  EXPECT_THAT(Field("{a: 1}").refused_integer(), HasSubstr("it is a mapping"));
  EXPECT_THAT(Field("").refused_integer(), HasSubstr("it is empty"));
  EXPECT_THAT(Field("true").refused_integer(), HasSubstr("it is true, which is not a number"));
}

TEST(DocumentNode, RejectsNumbersInQuotes) {
  EXPECT_THAT(Field("\"5\"").refused_integer(), HasSubstr("it is \"5\", text in quotes"));
  const YamlJsonDocument json = YamlJsonDocument::parse(R"({"v": "5"})", "f.json");
  EXPECT_EQ(refusal([&] { (void)json.root().get("v").number(0, 1); }),
            "f.json:1:7: v: must be a number from 0 to 1; it is \"5\", text in quotes");
}

TEST(DocumentNode, ReadsNumbers) {
  EXPECT_EQ(Field("0.5").node().number(0, 1), 0.5);
  EXPECT_EQ(Field("-.5").node().number(), -0.5);
  EXPECT_EQ(Field("1e3").node().number(), 1000.0);
}

TEST(DocumentNode, RejectsNanAndInfinity) {
  for (const std::string word : {".nan", ".inf", "-.inf", "NaN", "nan", "inf", "Infinity"}) {
    EXPECT_THAT(Field(word).refused_number(), HasSubstr("must be a finite number; it is '" + word));
  }
  EXPECT_THAT(Field("1e999").refused_number(), HasSubstr("it is 1e999"));
}

TEST(DocumentNode, RejectsNumbersOutOfRange) {
  const Field field("1.5");
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto refused = [&](double low, double high) {
    return refusal([&] { (void)field.node().number(low, high); });
  };
  EXPECT_THAT(refused(0, 1), HasSubstr("must be a number from 0 to 1; it is 1.5"));
  EXPECT_THAT(refused(2, kInfinity), HasSubstr("must be a finite number of at least 2"));
  EXPECT_THAT(refused(-kInfinity, 1), HasSubstr("must be a finite number of at most 1"));
}

TEST(DocumentNode, ReadsTruthValues) {
  EXPECT_TRUE(Field("true").node().boolean());
  EXPECT_FALSE(Field("False").node().boolean());
  for (const std::string word : {"yes", "'true'", "1", "[true]"}) {
    EXPECT_THAT(refusal([&] { (void)Field(word).node().boolean(); }),
                HasSubstr("must be true or false; it is "));
  }
}

TEST(DocumentNode, ReadsAnyScalarAsTextAsWritten) {
  EXPECT_EQ(Field("0.10").node().text(), "0.10");
  EXPECT_EQ(Field("'a b'").node().text(), "a b");
  EXPECT_THAT(refusal([] { (void)Field("").node().text(); }),
              HasSubstr("must be text; it is empty"));
}

TEST(DocumentNode, TellsNumbersFromText) {
  EXPECT_TRUE(Field("7").node().is_number());
  EXPECT_FALSE(Field("'7'").node().is_number());
  EXPECT_FALSE(Field("seven").node().is_number());
}

TEST(DocumentNode, ChoosesAnEnumeratorByItsWord) {
  EXPECT_EQ(Field("bf16").node().choice(kDTypeNames), DType::kBf16);
  EXPECT_EQ(refusal([] { (void)Field("bf61").node().choice(kDTypeNames); }),
            "f:1:4: v: must be one of fp64, fp32, fp16, bf16, fp8, mxfp8, nvfp4, int64, int32, "
            "int8, nf4; "
            "it is 'bf61'; did you mean 'bf16'?");
  EXPECT_THAT(refusal([] { (void)Field("[bf16]").node().choice(kDTypeNames); }),
              HasSubstr("it is a list"));
}

TEST(DocumentNode, NamesAMissingKey) {
  const Field field("{a: 1}");
  EXPECT_FALSE(field.node().find("b").has_value());
  EXPECT_EQ(refusal([&] { (void)field.node().get("b"); }), "f:1:4: v: the key 'b' is missing");
}

TEST(DocumentNode, RejectsUnknownKeysWithTheNearest) {
  const YamlJsonDocument job =
      YamlJsonDocument::parse("batch:\n  sequences: 1\n  lenght: 2\n", "job.yaml");
  EXPECT_EQ(
      refusal([&] { job.root().get("batch").allow_only_keys({"sequences", "length"}); }),
      "job.yaml:3:3: batch: unknown key 'lenght'; did you mean 'length'? (allowed: sequences, "
      "length)");
  EXPECT_EQ(refusal([&] { job.root().allow_only_keys({"model", "cluster"}); }),
            "job.yaml:1:1: unknown key 'batch' (allowed: model, cluster)");
  EXPECT_NO_THROW(job.root().allow_only_keys({"batch"}));
}

TEST(DocumentNode, RejectsMembersOfWhatIsNoMapping) {
  const Field field("[1, 2]");
  const DocumentNode list = field.node();
  EXPECT_THAT(refusal([&] { (void)list.find("a"); }), HasSubstr("must be a mapping"));
  EXPECT_THAT(refusal([&] { (void)list.mapping_members(); }), HasSubstr("it is a list"));
  EXPECT_THAT(refusal([&] { list.allow_only_keys({"a"}); }), HasSubstr("must be a mapping"));
}

TEST(DocumentNode, RejectsElementsThatAreNotThere) {
  const Field field("[1, 2]");
  EXPECT_EQ(field.node().size(), 2U);
  EXPECT_THAT(refusal([&] { (void)field.node().at(2); }), HasSubstr("has 2 elements"));
  EXPECT_THAT(refusal([&] { (void)Field("{a: 1}").node().at(0); }), HasSubstr("must be a list"));
  EXPECT_THAT(refusal([&] { (void)Field("7").node().size(); }), HasSubstr("it is 7"));
}

TEST(DocumentNode, FailsWithItsPlace) {
  const Field field("7");
  EXPECT_EQ(refusal([&] { field.node().fail("is odd"); }), "f:1:4: v: is odd");
  try {
    field.node().fail_unsupported("is not covered");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    EXPECT_STREQ(error.what(), "f:1:4: v: is not covered");
  }
}

TEST(DocumentNode, CutsLongValuesInMessages) {
  const std::string message = Field(std::string(5000, 'x')).refused_integer();
  EXPECT_LT(message.size(), 300U);
}

}  // namespace
}  // namespace stepwright
