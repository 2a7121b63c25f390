#pragma once

#include <ATen/ATen.h>

#include <cstdint>

namespace stepwright::runtime {

/// Whether numbers have signs: those of first moments do.
enum class Signs : std::uint8_t { kBoth, kPlus };

/// The 256 numbers of -1 to 1, or of 0 to 1, that a byte stands for, in their order: 0, 1, and in
/// each of seven decades the middles of equal parts, twice as many in each decade as in the one
/// below it (arXiv 1511.04561; bitsandbytes/functional.py, create_dynamic_map).
const at::Tensor& numbers_of_bytes(Signs signs);

/// Moments of `blocks` equal runs of elements as bytes, with a scale for each `kScaleBlock`
/// elements of a run: the largest size in it (bitsandbytes csrc/kernels.cu,
/// kOptimizerStatic8bit2StateBlockwise).
struct EightBits {
  at::Tensor bytes;   ///< [blocks x elements], flat.
  at::Tensor scales;  ///< [blocks x divide_up(elements, kScaleBlock)], flat.
  std::int64_t blocks = 1;
  Signs signs = Signs::kBoth;

  /// Returns moments that are all zero.
  static EightBits zeros(std::int64_t elements, std::int64_t blocks, Signs signs,
                         const at::TensorOptions& scales);

  /// The numbers, in the type of the scales.
  [[nodiscard]] at::Tensor values() const;
  /// The scale of each number.
  [[nodiscard]] at::Tensor spread_scales() const;
  /// Takes the nearest numbers to these, with scales of their own. None but 0 becomes another sign:
  /// where the nearest is 0, of a negative one it is the one below.
  void store(const at::Tensor& values);
  /// Takes numbers that were read with a scale each; where those are this one's own again, exactly.
  void restore(const at::Tensor& values, const at::Tensor& scales);

 private:
  [[nodiscard]] at::Tensor in_blocks(const at::Tensor& flat) const;
  void encode(const at::Tensor& values);
};

}  // namespace stepwright::runtime
