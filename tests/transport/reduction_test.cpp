#include "stepwright/transport/reduction.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "stepwright/transport/half.h"

namespace stepwright::transport {
namespace {

template <typename T>
std::vector<T> combined(const CollectiveReduction& reduction, std::vector<T> a, std::vector<T> b) {
  std::vector<T> target(a.size());
  combine_elements(reduction, std::as_writable_bytes(std::span(target)),
                   std::as_bytes(std::span(a)), std::as_bytes(std::span(b)));
  combine_elements(reduction, std::as_writable_bytes(std::span(b)), std::as_bytes(std::span(a)),
                   std::as_bytes(std::span(b)));
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(target[i], b[i]) << "in place, " << i;
  return target;
}

TEST(CollectiveReduction, SumsEveryType) {
  EXPECT_EQ(combined<double>({ReductionElementType::kFloat64}, {0.1, 2}, {0.2, 3}),
            (std::vector<double>{0.1 + 0.2, 5}));
  EXPECT_EQ(combined<float>({ReductionElementType::kFloat32}, {0.1F}, {0.2F}),
            (std::vector<float>{0.1F + 0.2F}));
  EXPECT_EQ(combined<std::int64_t>({ReductionElementType::kInt64}, {1LL << 40}, {1}),
            (std::vector<std::int64_t>{(1LL << 40) + 1}));
  EXPECT_EQ(combined<std::int32_t>({ReductionElementType::kInt32}, {2'147'483'647}, {1}),
            (std::vector<std::int32_t>{std::numeric_limits<std::int32_t>::min()}));
  EXPECT_EQ(combined<std::int16_t>({ReductionElementType::kInt16}, {-5}, {7}),
            (std::vector<std::int16_t>{2}));
  EXPECT_EQ(combined<std::int8_t>({ReductionElementType::kInt8}, {127}, {1}),
            (std::vector<std::int8_t>{-128}));
  EXPECT_EQ(combined<std::uint8_t>({ReductionElementType::kUint8}, {255}, {2}),
            (std::vector<std::uint8_t>{1}));
}

TEST(CollectiveReduction, TakesTheLeastAndTheLargest) {
  EXPECT_EQ(combined<float>({ReductionElementType::kFloat32, ReduceKind::kMin}, {1, -2}, {0, 5}),
            (std::vector<float>{0, -2}));
  EXPECT_EQ(combined<std::int8_t>({ReductionElementType::kInt8, ReduceKind::kMax}, {1, -2}, {0, 5}),
            (std::vector<std::int8_t>{1, 5}));
}

/// Computes a half-precision value by its definition.
double half_value(std::uint16_t bits) {
  const int exponent = bits >> 10 & 0x1f;
  const int fraction = bits & 0x3ff;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  if (exponent == 31) return fraction == 0 ? sign * HUGE_VAL : std::nan("");
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

TEST(Half, IsEveryNumberThatItCanBe) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const Float16 half{static_cast<std::uint16_t>(bits)};
    const double expected = half_value(half.bits);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(half.value()));
      EXPECT_TRUE(std::isnan(Float16::from_float(half.value()).value()));
    } else {
      ASSERT_EQ(half.value(), expected) << bits;
      ASSERT_EQ(Float16::from_float(half.value()).bits, bits);
    }
  }
}

TEST(Half, RoundsToNearestEven) {
  for (std::uint16_t bits = 0; bits < 0x7bff; ++bits) {
    const double low = half_value(bits);
    const double high = half_value(static_cast<std::uint16_t>(bits + 1));
    const auto middle = static_cast<float>((low + high) / 2);
    const std::uint16_t even = bits % 2 == 0 ? bits : static_cast<std::uint16_t>(bits + 1);
    ASSERT_EQ(Float16::from_float(middle).bits, even) << bits;
    ASSERT_EQ(Float16::from_float(std::nextafter(middle, 0.0F)).bits, bits);
    ASSERT_EQ(Float16::from_float(std::nextafter(middle, 1e9F)).bits, bits + 1);
  }
  EXPECT_EQ(Float16::from_float(65519.0F).bits, 0x7bff);
  EXPECT_EQ(Float16::from_float(65520.0F).bits, 0x7c00);
  EXPECT_EQ(Float16::from_float(-1e30F).bits, 0xfc00);
}

TEST(Bfloat16, RoundsToNearestEven) {
  EXPECT_EQ(Bfloat16::from_float(1.0F).bits, 0x3f80);
  EXPECT_EQ(Bfloat16::from_float(std::bit_cast<float>(0x3f808000U)).bits, 0x3f80);
  EXPECT_EQ(Bfloat16::from_float(std::bit_cast<float>(0x3f818000U)).bits, 0x3f82);
  EXPECT_EQ(Bfloat16::from_float(std::bit_cast<float>(0x3f808001U)).bits, 0x3f81);
  EXPECT_EQ(Bfloat16::from_float(std::numeric_limits<float>::max()).bits, 0x7f80);
  EXPECT_TRUE(std::isnan(Bfloat16::from_float(std::nanf("")).value()));
}

TEST(CollectiveReduction, ScalesFloats) {
  std::vector<float> values{3, -8};
  multiply_elements(ReductionElementType::kFloat32, std::as_writable_bytes(std::span(values)), 0.5);
  EXPECT_EQ(values, (std::vector<float>{1.5, -4}));
  divide_elements(ReductionElementType::kFloat32, std::as_writable_bytes(std::span(values)), 3);
  EXPECT_EQ(values, (std::vector<float>{0.5, -4.0F / 3}));
  std::vector<Bfloat16> halves{Bfloat16::from_float(3)};
  divide_elements(ReductionElementType::kBfloat16, std::as_writable_bytes(std::span(halves)), 2);
  EXPECT_EQ(halves[0].value(), 1.5F);
}

}  // namespace
}  // namespace stepwright::transport
