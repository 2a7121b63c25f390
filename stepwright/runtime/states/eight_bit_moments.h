#pragma once

#include <ATen/ATen.h>

#include <cstdint>

namespace stepwright::runtime {

/// Signs of the numbers to encode in eight bits: kBoth (first moments of Adam), kPlus (second
/// moments).
enum class MomentSigns : std::uint8_t { kBoth, kPlus };

/// Returns the 256 numbers that a byte of an eight-bit optimizer state can stand for, in ascending
/// order, from -1 (kPlus: from 0) to 1. They are 0, 1, and in each of seven decades the middles of
/// equal parts, twice as many as in the decade below (arXiv 1511.04561; bitsandbytes/functional.py,
/// create_dynamic_map).
const at::Tensor& eight_bit_codebook(MomentSigns signs);

/// Optimizer moments stored as one byte per element, with a scale for each
/// `plan::kEightBitAdamMomentsPerScale` elements: the largest absolute value among them
/// (bitsandbytes csrc/kernels.cu, kOptimizerStatic8bit2StateBlockwise). The elements form `blocks`
/// equal runs, and scales do not span two runs.
struct EightBitOptimizerMoments {
  /// Encoded elements, one byte each, flattened from [blocks, elements of a block].
  at::Tensor bytes;
  /// Scales, flattened from [blocks, scales of each block].
  at::Tensor scales;
  std::int64_t blocks = 1;
  MomentSigns signs = MomentSigns::kBoth;

  /// Returns eight-bit moments that are all zero.
  static EightBitOptimizerMoments make_zero_moments(std::int64_t elements, std::int64_t blocks,
                                                    MomentSigns signs,
                                                    const at::TensorOptions& scales);

  /// Decodes all elements, into the type of the scales.
  [[nodiscard]] at::Tensor decode_moments() const;
  /// Returns a tensor with the scale that each element is multiplied by.
  [[nodiscard]] at::Tensor scales_by_element() const;
  /// Encodes `values`: computes new scales and stores the nearest number for each element.
  /// No number but 0 changes its sign: a negative number whose nearest is 0 becomes the next one
  /// below 0.
  void encode_with_new_scales(const at::Tensor& values);
  /// Encodes values that come with a scale for each element, as checkpoints store them. Exact if
  /// the scales are those that this object would compute.
  void encode_with_given_scales(const at::Tensor& values, const at::Tensor& scales);

 private:
  [[nodiscard]] at::Tensor in_blocks(const at::Tensor& flat) const;
  void encode(const at::Tensor& values);
};

}  // namespace stepwright::runtime
