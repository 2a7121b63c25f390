#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace stepwright::transport {

/// Types of elements that can be summed.
enum class ElementType : std::uint8_t {
  kFloat64,
  kFloat32,
  kFloat16,
  kBfloat16,
  kInt64,
  kInt32,
  kInt16,
  kInt8,
  kUint8,
};

/// How two elements are combined. Integers wrap around on overflow.
enum class ReduceKind : std::uint8_t { kSum, kMin, kMax };

/// The operation of a reduction on elements. Types of 16 bits are widened for each operation and
/// rounded to nearest even after it.
struct Reduction {
  ElementType type = ElementType::kFloat32;
  ReduceKind kind = ReduceKind::kSum;
};

/// Returns the bytes of an element.
std::int64_t element_bytes(ElementType type);

/// True for types with fractions, which averages and factors need.
bool is_floating(ElementType type);

/// Sets `target[i]` to `incoming[i]` combined with `own[i]`. All spans have equal length, a
/// multiple of the element's bytes; `target` may be equal to `own`, but must not overlap either in
/// part.
void combine(const Reduction& reduction, std::span<std::byte> target,
             std::span<const std::byte> incoming, std::span<const std::byte> own);

/// Multiplies each element by `factor`, for floating types; the product is rounded once.
void multiply(ElementType type, std::span<std::byte> elements, double factor);

/// Divides each element by `divisor`, for floating types; the quotient is rounded once.
void divide(ElementType type, std::span<std::byte> elements, double divisor);

}  // namespace stepwright::transport
