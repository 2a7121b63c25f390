#pragma once

#include <cstdint>
#include <string_view>

#include "stepwright/core/named.h"

namespace stepwright {

/// Number formats of tensor elements and of arithmetic.
enum class DType : std::uint8_t {
  kFp64,
  kFp32,
  kFp16,
  kBf16,
  kFp8,
  kMxfp8,
  kNvfp4,
  kInt64,
  kInt32,
  kInt8,
  kNf4
};

/// Names of number formats in files and output: "bf16", "fp8".
inline constexpr Named<DType> kDTypeNames[] = {
    {DType::kFp64, "fp64"},   {DType::kFp32, "fp32"},   {DType::kFp16, "fp16"},
    {DType::kBf16, "bf16"},   {DType::kFp8, "fp8"},     {DType::kMxfp8, "mxfp8"},
    {DType::kNvfp4, "nvfp4"}, {DType::kInt64, "int64"}, {DType::kInt32, "int32"},
    {DType::kInt8, "int8"},   {DType::kNf4, "nf4"},
};

/// Returns the bits of one element in hundredths of a bit, including block scales (OCP MX: one
/// 8-bit scale per 32 elements; NVFP4: one 8-bit scale per 16). NF4 has an 8-bit scale per 64
/// elements and a 32-bit one per 256 scales: 4.127 bits (QLoRA, arXiv 2305.14314, section 3), here
/// 4.13.
constexpr std::int64_t element_size_centibits(DType type) {
  switch (type) {
    case DType::kFp64:
    case DType::kInt64: return 6400;
    case DType::kFp32:
    case DType::kInt32: return 3200;
    case DType::kFp16:
    case DType::kBf16: return 1600;
    case DType::kFp8:
    case DType::kInt8: return 800;
    case DType::kMxfp8: return 825;
    case DType::kNvfp4: return 450;
    case DType::kNf4: return 413;
  }
  return 0;
}

/// Returns the bytes that `elements` elements of `centibits` hundredths of a bit each take, rounded
/// up to whole bytes.
constexpr std::int64_t bytes_of_centibits(std::int64_t elements, std::int64_t centibits) {
  // Split so that the product of a huge model's elements and centibits does not overflow.
  return elements / 800 * centibits + (elements % 800 * centibits + 799) / 800;
}

/// Returns the bytes that `elements` elements of a number format take, rounded up to whole bytes.
constexpr std::int64_t bytes_of_elements(DType type, std::int64_t elements) {
  return bytes_of_centibits(elements, element_size_centibits(type));
}

}  // namespace stepwright
