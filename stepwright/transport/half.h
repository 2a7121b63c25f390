#pragma once

#include <bit>
#include <cstdint>

namespace stepwright::transport {

/// A bfloat16 number, stored as its 16 bits (the upper half of a float).
struct Bfloat16 {
  std::uint16_t bits;

  /// Converts a float, rounding to nearest even. NaN stays NaN; values that are too large become
  /// infinite.
  static Bfloat16 from_float(float value) {
    const auto wide = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t rounded = (wide + 0x7fffU + ((wide >> 16U) & 1U)) >> 16U;
    const bool is_nan = (wide & 0x7fffffffU) > 0x7f800000U;
    return {static_cast<std::uint16_t>(is_nan ? 0x7fc0U : rounded)};
  }
  /// Returns the number as a float, exactly.
  [[nodiscard]] float value() const {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
  }
};

/// An IEEE half-precision number, stored as its 16 bits. Conversions have no branches, so that
/// loops over them use vector instructions (method: Maratyszcza's FP16).
struct Float16 {
  std::uint16_t bits;

  /// Converts a float, rounding to nearest even. NaN stays NaN; values that are too large become
  /// infinite.
  static Float16 from_float(float value) {
    const auto wide = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = (wide >> 16U) & 0x8000U;
    const float magnitude = std::bit_cast<float>(wide & 0x7fffffffU);
    // Values that are too large become infinite in the first product; the second returns to the
    // scale of a half.
    float base = magnitude * std::bit_cast<float>(0x77800000U) * std::bit_cast<float>(0x08800000U);
    // Adding a power of two well above the value leaves as many bits as a half has.
    std::uint32_t exponent = (wide << 1U) & 0xff000000U;
    exponent = exponent < 0x71000000U ? 0x71000000U : exponent;
    base += std::bit_cast<float>((exponent >> 1U) + 0x07800000U);
    const auto sum = std::bit_cast<std::uint32_t>(base);
    const std::uint32_t finite = ((sum >> 13U) & 0x7c00U) + (sum & 0x0fffU);
    const bool is_nan = (wide & 0x7fffffffU) > 0x7f800000U;
    return {static_cast<std::uint16_t>(sign | (is_nan ? 0x7e00U : finite))};
  }
  /// Returns the number as a float, exactly.
  [[nodiscard]] float value() const {
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16U;
    const std::uint32_t magnitude = static_cast<std::uint32_t>(bits & 0x7fffU) << 13U;
    // 2^112 moves the exponent, of subnormal numbers too; infinite and NaN keep the largest one.
    const float scaled = std::bit_cast<float>(magnitude) * std::bit_cast<float>(0x77800000U);
    const std::uint32_t special = magnitude >= 0x0f800000U ? 0x7f800000U : 0U;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(scaled) | special);
  }
};

}  // namespace stepwright::transport
