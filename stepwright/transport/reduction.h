#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace stepwright::transport {

/// Types of elements that a collective can add.
enum class ReductionElementType : std::uint8_t {
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

/// How a reduction combines two elements. Integers wrap around on overflow.
enum class ReduceKind : std::uint8_t { kSum, kMin, kMax };

/// The reduction of a collective: the type of the elements, and how two are combined. 16-bit floats
/// are widened for each operation, and the result is rounded to nearest even.
struct CollectiveReduction {
  ReductionElementType type = ReductionElementType::kFloat32;
  ReduceKind kind = ReduceKind::kSum;
};

/// Returns the number of bytes of an element of this type.
std::int64_t element_bytes(ReductionElementType type);

/// True for floating-point types, the only ones that averages and factors allow.
bool is_floating_point_type(ReductionElementType type);

/// Sets `target[i]` to the sum, minimum or maximum of `incoming[i]` and `own[i]`. The spans have
/// equal lengths, a multiple of the element's bytes; `target` may be `own`, but no other overlap is
/// allowed.
void combine_elements(const CollectiveReduction& reduction, std::span<std::byte> target,
                      std::span<const std::byte> incoming, std::span<const std::byte> own);

/// Multiplies each element, of a floating-point type, by `factor`; the product is rounded once.
void multiply_elements(ReductionElementType type, std::span<std::byte> elements, double factor);

/// Divides each element, of a floating-point type, by `divisor`; the quotient is rounded once.
void divide_elements(ReductionElementType type, std::span<std::byte> elements, double divisor);

}  // namespace stepwright::transport
