#include "stepwright/runtime/states/eight_bit_moments.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "stepwright/core/divide_up.h"
#include "stepwright/plan/optimizer_traits.h"

namespace stepwright::runtime {
namespace {

constexpr int kDecades = 7;

at::Tensor make_numbers(MomentSigns signs) {
  std::vector<float> numbers{0, 1};
  for (int decade = 0; decade < kDecades; ++decade) {
    const int parts = 1 << (signs == MomentSigns::kBoth ? decade : decade + 1);
    const double size = std::pow(10, decade - (kDecades - 1));
    for (int i = 0; i < parts; ++i) {
      const auto middle = static_cast<float>(size * (0.1 + 0.9 * (i + 0.5) / parts));
      numbers.push_back(middle);
      if (signs == MomentSigns::kBoth) numbers.push_back(-middle);
    }
  }
  std::ranges::sort(numbers);
  return at::tensor(numbers, at::kFloat);
}

/// Returns the midpoints between neighbouring numbers.
at::Tensor middles(MomentSigns signs) {
  const at::Tensor numbers = eight_bit_codebook(signs).to(at::kDouble);
  const std::int64_t count = numbers.numel() - 1;
  return (numbers.narrow(0, 0, count) + numbers.narrow(0, 1, count)) / 2;
}

}  // namespace

const at::Tensor& eight_bit_codebook(MomentSigns signs) {
  static const at::Tensor kBoth = make_numbers(MomentSigns::kBoth);
  static const at::Tensor kPlus = make_numbers(MomentSigns::kPlus);
  return signs == MomentSigns::kBoth ? kBoth : kPlus;
}

EightBitOptimizerMoments EightBitOptimizerMoments::make_zero_moments(
    std::int64_t elements, std::int64_t blocks, MomentSigns signs,
    const at::TensorOptions& scales) {
  const std::int64_t each = ceil_divide(elements / blocks, plan::kEightBitAdamMomentsPerScale);
  EightBitOptimizerMoments bits{.bytes = at::empty({elements}, scales.dtype(at::kByte)),
                                .scales = at::zeros({blocks * each}, scales),
                                .blocks = blocks,
                                .signs = signs};
  bits.encode(at::zeros({elements}, scales));
  return bits;
}

at::Tensor EightBitOptimizerMoments::in_blocks(const at::Tensor& flat) const {
  const at::Tensor runs = flat.view({blocks, -1});
  const std::int64_t missing =
      scales.numel() / blocks * plan::kEightBitAdamMomentsPerScale - runs.size(1);
  return at::constant_pad_nd(runs, {0, missing}).view({-1, plan::kEightBitAdamMomentsPerScale});
}

at::Tensor EightBitOptimizerMoments::scales_by_element() const {
  return scales.view({blocks, -1, 1})
      .expand({blocks, scales.numel() / blocks, plan::kEightBitAdamMomentsPerScale})
      .reshape({blocks, -1})
      .narrow(1, 0, bytes.numel() / blocks)
      .reshape({-1})
      .contiguous();
}

at::Tensor EightBitOptimizerMoments::decode_moments() const {
  const at::Tensor numbers = eight_bit_codebook(signs).to(scales.options());
  return numbers.index_select(0, bytes.to(at::kLong)) * scales_by_element();
}

void EightBitOptimizerMoments::encode(const at::Tensor& values) {
  const at::Tensor all = scales_by_element();
  const at::Tensor parts = values / at::where(all > 0, all, at::ones_like(all));
  at::Tensor nearest = at::bucketize(parts, middles(signs).to(scales.options()));
  if (signs == MomentSigns::kBoth) {
    const at::Tensor zero =
        eight_bit_codebook(signs).to(scales.device()).index_select(0, nearest) == 0;
    nearest = nearest - zero.logical_and(values < 0).to(at::kLong);
  }
  bytes.copy_(nearest);
}

void EightBitOptimizerMoments::encode_with_new_scales(const at::Tensor& values) {
  scales.copy_(in_blocks(values.abs()).amax(1));
  encode(values);
}

void EightBitOptimizerMoments::encode_with_given_scales(const at::Tensor& values,
                                                        const at::Tensor& of_each) {
  scales.copy_(in_blocks(of_each).amax(1));
  encode(values);
}

}  // namespace stepwright::runtime
