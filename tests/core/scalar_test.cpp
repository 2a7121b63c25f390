#include "stepwright/core/scalar.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "stepwright/core/error.h"

namespace stepwright {
namespace {

using Status = IntegerParseResult::IntegerParseStatus;

TEST(Scalar, AcceptsDecimalNumbersOnly) {
  for (const char* word : {"0", "-7", "+7", "0.5", ".5", "5.", "40e6", "1E-5", "1e+5", "-0"}) {
    EXPECT_TRUE(is_number(word)) << word;
  }
  for (const char* word : {"",    "-",     ".",     "e5",   "1e",       "1e+", "0x10",  "0o7",
                           "007", "-01.5", "1_000", "1,5",  "1 ",       " 1",  "1.2.3", "NaN",
                           "nan", ".nan",  "inf",   ".inf", "Infinity", "--1", "1f",    "½"}) {
    EXPECT_FALSE(is_number(word)) << word;
  }
}

TEST(Scalar, ReadsIntegersWithExponents) {
  EXPECT_EQ(read_integer("40e6").value, 40'000'000);
  EXPECT_EQ(read_integer("1.5e3").value, 1500);
  EXPECT_EQ(read_integer("1500e-2").value, 15);
  EXPECT_EQ(read_integer("8.0").value, 8);
  EXPECT_EQ(read_integer("0e999999999999999999999").status, Status::kGood);
  EXPECT_EQ(read_integer("9.223372036854775807e18").value, INT64_MAX);
  EXPECT_EQ(read_integer("-9223372036854775808").value, INT64_MIN);
}

TEST(Scalar, SaysWhyAWordIsNoInteger) {
  EXPECT_EQ(read_integer("four").status, Status::kNotANumber);
  EXPECT_EQ(read_integer("2.5").status, Status::kNotIntegral);
  EXPECT_EQ(read_integer("1e-1").status, Status::kNotIntegral);
  EXPECT_EQ(read_integer("9223372036854775808").status, Status::kTooLarge);
  EXPECT_EQ(read_integer("-9223372036854775809").status, Status::kTooLarge);
  EXPECT_EQ(read_integer("1e19").status, Status::kTooLarge);
  EXPECT_EQ(read_integer("1e99999999999999999999").status, Status::kTooLarge);
}

TEST(Scalar, ReadsFiniteDoublesOnly) {
  EXPECT_EQ(read_double("+.5"), 0.5);
  EXPECT_EQ(read_double("5."), 5.0);
  EXPECT_EQ(read_double("1e308"), 1e308);
  EXPECT_EQ(read_double("1e309"), std::nullopt);
  EXPECT_EQ(read_double("1e-999"), std::nullopt);
  EXPECT_EQ(read_double("nan"), std::nullopt);
}

TEST(Scalar, WritesTheShortestNumber) {
  EXPECT_EQ(number_text(0.1), "0.1");
  EXPECT_EQ(number_text(-2), "-2");
  EXPECT_THROW(number_text(std::numeric_limits<double>::quiet_NaN()), Error);
}

TEST(Scalar, KnowsWhichWordsNeedNoQuotes) {
  for (const char* word : {"ring", "1f1b", "job/1", "dgx-a100-80g", "8x", "a b", "/tmp/x.json"}) {
    EXPECT_TRUE(needs_no_yaml_quotes(word)) << word;
  }
  for (const char* word :
       {"",  "5",   "1e5", "true", "yes",  "Off",  "null",       "nan",   "0x1f", "1_000", "~",
        "-", "- a", "a ",  " a",   "a: b", "a #b", "2024-01-01", "12:30", "&a",   "é"}) {
    EXPECT_FALSE(needs_no_yaml_quotes(word)) << word;
  }
}

}  // namespace
}  // namespace stepwright
