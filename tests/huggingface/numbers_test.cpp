#include "stepwright/huggingface/numbers.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace stepwright::huggingface {
namespace {

using ::testing::ElementsAre;

std::uint16_t bits_of(WeightNumberType type, double number) {
  std::vector<std::byte> bytes;
  append_rounded_numbers(bytes, type, {&number, 1});
  std::uint16_t bits = 0;
  EXPECT_EQ(bytes.size(), sizeof(bits));
  std::memcpy(&bits, bytes.data(), sizeof(bits));
  return bits;
}

double number_of(WeightNumberType type, std::uint16_t bits) {
  double number = 0;
  read_numbers_as_doubles({.bytes = std::as_bytes(std::span(&bits, 1)), .type = type},
                          {&number, 1});
  return number;
}

TEST(Numbers, EveryNarrowNumberSurvivesReadingAndWriting) {
  for (const WeightNumberType type : {WeightNumberType::kF16, WeightNumberType::kBf16}) {
    for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
      const auto narrow = static_cast<std::uint16_t>(bits);
      const double number = number_of(type, narrow);
      if (std::isnan(number)) {
        EXPECT_TRUE(std::isnan(number_of(type, bits_of(type, number))));
      } else {
        EXPECT_EQ(bits_of(type, number), narrow);
      }
    }
  }
}

TEST(Numbers, HalvesAreThoseOfTheStandard) {
  EXPECT_EQ(number_of(WeightNumberType::kF16, 0x3c00), 1);
  EXPECT_EQ(number_of(WeightNumberType::kF16, 0xc500), -5);
  EXPECT_EQ(number_of(WeightNumberType::kF16, 0x7bff), 65504);
  EXPECT_EQ(number_of(WeightNumberType::kF16, 0x0001), 0x1p-24);
  EXPECT_EQ(number_of(WeightNumberType::kF16, 0x7c00), std::numeric_limits<double>::infinity());
  EXPECT_EQ(number_of(WeightNumberType::kBf16, 0x3f80), 1);
  EXPECT_EQ(number_of(WeightNumberType::kBf16, 0xc0a0), -5);
}

TEST(Numbers, AreRoundedToTheNearestTiesToEven) {
  EXPECT_EQ(bits_of(WeightNumberType::kF16, 1 + 0x1p-11), 0x3c00);
  EXPECT_EQ(bits_of(WeightNumberType::kF16, 1 + 3 * 0x1p-11), 0x3c02);
  EXPECT_EQ(bits_of(WeightNumberType::kF16, 1 + 0x1.8p-11), 0x3c01);
  EXPECT_EQ(bits_of(WeightNumberType::kF16, 2047.5 / 1024),
            0x4000);  // the carry raises the exponent
  EXPECT_EQ(bits_of(WeightNumberType::kF16, 65519), 0x7bff);
  EXPECT_EQ(bits_of(WeightNumberType::kF16, 65520), 0x7c00);
  EXPECT_EQ(bits_of(WeightNumberType::kF16, 0x1p-25), 0);
  EXPECT_EQ(bits_of(WeightNumberType::kF16, -0x1.8p-25), 0x8001);
  EXPECT_EQ(bits_of(WeightNumberType::kBf16, 1 + 0x1p-8), 0x3f80);
  EXPECT_EQ(bits_of(WeightNumberType::kBf16, 1 + 3 * 0x1p-8), 0x3f82);
}

TEST(Numbers, AColumnIsReadByItsStride) {
  const std::vector<float> rows{1, 2, 3, 4, 5, 6};
  std::vector<double> column(3);
  read_numbers_as_doubles({.bytes = std::as_bytes(std::span(rows)),
                           .type = WeightNumberType::kF32,
                           .first = 1,
                           .stride = 2},
                          column);
  EXPECT_THAT(column, ElementsAre(2, 4, 6));
}

}  // namespace
}  // namespace stepwright::huggingface
