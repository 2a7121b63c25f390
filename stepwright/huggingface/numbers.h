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
enum class WeightNumberType : std::uint8_t { kF64, kF32, kF16, kBf16 };
/// Names of number types in safetensors files; `kNumberTypeNames` has the names in command lines
/// and jobs, `kTorchTypes` those in config.json.
inline constexpr Named<WeightNumberType> kSafetensorsTypes[] = {{WeightNumberType::kF64, "F64"},
                                                                {WeightNumberType::kF32, "F32"},
                                                                {WeightNumberType::kF16, "F16"},
                                                                {WeightNumberType::kBf16, "BF16"}};
inline constexpr Named<WeightNumberType> kNumberTypeNames[] = {{WeightNumberType::kF64, "fp64"},
                                                               {WeightNumberType::kF32, "fp32"},
                                                               {WeightNumberType::kF16, "fp16"},
                                                               {WeightNumberType::kBf16, "bf16"}};
inline constexpr Named<WeightNumberType> kTorchTypes[] = {{WeightNumberType::kF64, "float64"},
                                                          {WeightNumberType::kF32, "float32"},
                                                          {WeightNumberType::kF16, "float16"},
                                                          {WeightNumberType::kBf16, "bfloat16"}};

/// Returns the number type that a table of names calls by this word; nullopt if there is none.
std::optional<WeightNumberType> find_weight_number_type(
    std::span<const Named<WeightNumberType>> table, std::string_view word);

/// Numbers to read: every `stride`-th number in `bytes`, starting with number `first`.
struct StridedNumbers {
  std::span<const std::byte> bytes;
  WeightNumberType type{};
  std::int64_t first = 0;
  std::int64_t stride = 1;
};

/// Reads numbers of a given type as doubles, which is exact; as many as `out` holds.
void read_numbers_as_doubles(const StridedNumbers& run, std::span<double> out);

/// Appends numbers to `bytes` in the given type, rounded to nearest with ties to even. For fp16 and
/// bf16 they are first rounded to fp32, as PyTorch does.
void append_rounded_numbers(std::vector<std::byte>& bytes, WeightNumberType type,
                            std::span<const double> numbers);

}  // namespace stepwright::huggingface
