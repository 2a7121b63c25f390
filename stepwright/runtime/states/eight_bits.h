#pragma once

#include <ATen/ATen.h>

#include <cstdint>

namespace stepwright::runtime {

/// The signs of numbers: kBoth for first moments, kPlus for second moments.
enum class Signs : std::uint8_t { kBoth, kPlus };

/// Returns the 256 numbers from -1 to 1 (or from 0 to 1) that a byte can stand for, in ascending
/// order: 0, 1, and in each of seven decades the middles of equal parts, twice as many as in the
/// decade below (arXiv 1511.04561; bitsandbytes/functional.py, create_dynamic_map).
const at::Tensor& numbers_of_bytes(Signs signs);

/// Moments of `blocks` equal runs of elements, stored as bytes with a scale for each `kScaleBlock`
/// elements of a run: the largest absolute value among them (bitsandbytes csrc/kernels.cu,
/// kOptimizerStatic8bit2StateBlockwise).
struct EightBits {
  at::Tensor bytes;   ///< Encoded numbers, [blocks x elements], flat.
  at::Tensor scales;  ///< Scales, [blocks x ceil_divide(elements, kScaleBlock)], flat.
  std::int64_t blocks = 1;
  Signs signs = Signs::kBoth;

  /// Returns moments that are all zero.
  static EightBits zeros(std::int64_t elements, std::int64_t blocks, Signs signs,
                         const at::TensorOptions& scales);

  /// Returns the numbers, in the type of the scales.
  [[nodiscard]] at::Tensor values() const;
  /// Returns the scale of each number.
  [[nodiscard]] at::Tensor spread_scales() const;
  /// Stores the nearest representable numbers to `values`, with new scales. No number but 0 changes
  /// its sign: a negative number whose nearest is 0 becomes the next one below 0.
  void store(const at::Tensor& values);
  /// Stores numbers that were read with a scale each; exact if the scales are equal to the ones
  /// this object would compute.
  void restore(const at::Tensor& values, const at::Tensor& scales);

 private:
  [[nodiscard]] at::Tensor in_blocks(const at::Tensor& flat) const;
  void encode(const at::Tensor& values);
};

}  // namespace stepwright::runtime
