#include "stepwright/huggingface/numbers.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace stepwright::huggingface {
namespace {

template <class Value>
Value value_at(std::span<const std::byte> bytes, std::int64_t index) {
  Value value{};
  std::memcpy(&value, bytes.data() + index * static_cast<std::int64_t>(sizeof(value)),
              sizeof(value));
  return value;
}

template <class Value>
void append(std::vector<std::byte>& bytes, Value value) {
  const auto raw = std::bit_cast<std::array<std::byte, sizeof(Value)>>(value);
  bytes.insert(bytes.end(), raw.begin(), raw.end());
}

double from_half(std::uint16_t bits) {
  const int exponent = (bits >> 10U) & 0x1fU;
  const int fraction = bits & 0x3ffU;
  double value =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  if (exponent == 31) {
    value = fraction == 0 ? std::numeric_limits<double>::infinity()
                          : std::numeric_limits<double>::quiet_NaN();
  }
  return (bits & 0x8000U) != 0 ? -value : value;
}

std::uint16_t to_half(double value) {
  const std::uint32_t sign = std::signbit(value) ? 0x8000U : 0;
  const double size = std::abs(value);
  std::uint32_t bits = 0x7e00U;
  if (size >= 65520) {
    bits = 0x7c00U;
  } else if (size < 0x1p-14) {
    bits = static_cast<std::uint32_t>(std::nearbyint(size * 0x1p24));
  } else if (!std::isnan(value)) {
    const int exponent = std::ilogb(size);
    const auto digits = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(size, 10 - exponent)));
    // If rounding overflows the fraction, the carry raises the exponent.
    bits = (static_cast<std::uint32_t>(exponent + 14) << 10U) + digits;
  }
  return static_cast<std::uint16_t>(sign | bits);
}

double from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
}

std::uint16_t to_bf16(double value) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (std::isnan(value)) return static_cast<std::uint16_t>((bits >> 16U) | 0x40U);
  return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16U) & 1U)) >> 16U);
}

}  // namespace

std::optional<WeightNumberType> find_weight_number_type(
    std::span<const Named<WeightNumberType>> table, std::string_view word) {
  for (const auto& [type, name] : table) {
    if (name == word) return type;
  }
  return std::nullopt;
}

void read_numbers_as_doubles(const StridedNumbers& run, std::span<double> out) {
  std::int64_t at = run.first;
  for (double& number : out) {
    switch (run.type) {
      case WeightNumberType::kF64: number = value_at<double>(run.bytes, at); break;
      case WeightNumberType::kF32: number = value_at<float>(run.bytes, at); break;
      case WeightNumberType::kF16:
        number = from_half(value_at<std::uint16_t>(run.bytes, at));
        break;
      case WeightNumberType::kBf16:
        number = from_bf16(value_at<std::uint16_t>(run.bytes, at));
        break;
    }
    at += run.stride;
  }
}

void append_rounded_numbers(std::vector<std::byte>& bytes, WeightNumberType type,
                            std::span<const double> numbers) {
  for (const double number : numbers) {
    switch (type) {
      case WeightNumberType::kF64: append(bytes, number); break;
      case WeightNumberType::kF32: append(bytes, static_cast<float>(number)); break;
      case WeightNumberType::kF16: append(bytes, to_half(static_cast<float>(number))); break;
      case WeightNumberType::kBf16: append(bytes, to_bf16(number)); break;
    }
  }
}

}  // namespace stepwright::huggingface
