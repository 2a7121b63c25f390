#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "stepwright/core/named.h"

namespace stepwright::huggingface {

/// Types of floating-point numbers in weight files.
enum class NumberType : std::uint8_t { kF64, kF32, kF16, kBf16 };
/// Names of number types in three places: safetensors files (`kSafetensorsTypes`), command lines
/// and jobs (`kNumberTypeNames`), and config.json (`kTorchTypes`).
inline constexpr Named<NumberType> kSafetensorsTypes[] = {{NumberType::kF64, "F64"},
                                                          {NumberType::kF32, "F32"},
                                                          {NumberType::kF16, "F16"},
                                                          {NumberType::kBf16, "BF16"}};
inline constexpr Named<NumberType> kNumberTypeNames[] = {{NumberType::kF64, "fp64"},
                                                         {NumberType::kF32, "fp32"},
                                                         {NumberType::kF16, "fp16"},
                                                         {NumberType::kBf16, "bf16"}};
inline constexpr Named<NumberType> kTorchTypes[] = {{NumberType::kF64, "float64"},
                                                    {NumberType::kF32, "float32"},
                                                    {NumberType::kF16, "float16"},
                                                    {NumberType::kBf16, "bfloat16"}};

/// Returns the number type that a table of names calls by this word; nullopt if there is none.
std::optional<NumberType> number_type(std::span<const Named<NumberType>> table,
                                      std::string_view word);

/// Numbers to read: every `stride`-th number in `bytes`, starting with number `first`.
struct NumberRun {
  std::span<const std::byte> bytes;
  NumberType type{};
  std::int64_t first = 0;
  std::int64_t stride = 1;
};

/// Reads numbers of a given type as doubles, which is exact; as many as `out` holds.
void read_numbers(const NumberRun& run, std::span<double> out);

/// Appends numbers to `bytes` in the given type, rounded to nearest with ties to even. For fp16 and
/// bf16 they are first rounded to fp32, as PyTorch does.
void append_numbers(std::vector<std::byte>& bytes, NumberType type,
                    std::span<const double> numbers);

}  // namespace stepwright::huggingface
