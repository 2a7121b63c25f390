#include "stepwright/core/format.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace stepwright {
namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;

TEST(Format, WritesBytesWithThreeDigits) {
  EXPECT_EQ(format_bytes(40 * kGiB), "40.0 GiB");
  EXPECT_EQ(format_bytes(1.234 * kGiB), "1.23 GiB");
  EXPECT_EQ(format_bytes(2048 * kGiB), "2.00 TiB");
  EXPECT_EQ(format_bytes(2048 * 1024 * kGiB), "2.00 PiB");
  EXPECT_EQ(format_bytes(kGiB / 2), "512 MiB");
  EXPECT_EQ(format_bytes(1536), "1.50 KiB");
  EXPECT_EQ(format_bytes(7), "7.00 B");
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(-2 * kGiB), "-2.00 GiB");
}

TEST(Format, WritesTimesInTheirUnit) {
  EXPECT_EQ(format_time(1.25), "1.25 s");
  EXPECT_EQ(format_time(0.0125), "12.5 ms");
  EXPECT_EQ(format_time(3.4e-6), "3.40 µs");
  EXPECT_EQ(format_time(2e-8), "0.0200 µs");
  EXPECT_EQ(format_time(3600), "3,600 s");
}

TEST(Format, RoundsBeforeItChoosesDigits) {
  EXPECT_EQ(format_time(9.996), "10.0 s");
  EXPECT_EQ(format_time(99.96), "100 s");
  EXPECT_EQ(format_time(999.6), "1,000 s");
  EXPECT_EQ(format_time(0.9996), "1.00 s");
}

TEST(Format, CountsThings) {
  EXPECT_EQ(count_with_noun(1, "plan"), "1 plan");
  EXPECT_EQ(count_with_noun(0, "plan"), "0 plans");
  EXPECT_EQ(count_with_noun(1200, "plan"), "1,200 plans");
}

TEST(Format, WritesRates) {
  EXPECT_EQ(format_bytes_per_s(186e9), "186 GB/s");
  EXPECT_EQ(format_bytes_per_s(12.5e6), "0.0125 GB/s");
  EXPECT_EQ(format_flops(412.3e12), "412 TFLOP/s");
}

TEST(Format, GroupsCounts) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1'234'567), "1,234,567");
  EXPECT_EQ(format_count(-1000), "-1,000");
  EXPECT_EQ(format_count(INT64_MIN), "-9,223,372,036,854,775,808");
}

TEST(Format, WritesFractionsAsPercent) {
  EXPECT_EQ(format_percent(0.4126), "41.3%");
  EXPECT_EQ(format_percent(1), "100.0%");
}

TEST(Format, SaysWhenThereIsNoValue) {
  EXPECT_EQ(format_time(std::numeric_limits<double>::quiet_NaN()), "n/a");
  EXPECT_EQ(format_bytes(std::numeric_limits<double>::infinity()), "n/a");
  EXPECT_EQ(format_percent(-std::numeric_limits<double>::infinity()), "n/a");
}

}  // namespace
}  // namespace stepwright
