#include "stepwright/runtime/states/eight_bits.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "stepwright/core/divide_up.h"
#include "stepwright/plan/optimizer_traits.h"

namespace stepwright::runtime {
namespace {

constexpr int kDecades = 7;

at::Tensor make_numbers(Signs signs) {
  std::vector<float> numbers{0, 1};
  for (int decade = 0; decade < kDecades; ++decade) {
    const int parts = 1 << (signs == Signs::kBoth ? decade : decade + 1);
    const double size = std::pow(10, decade - (kDecades - 1));
    for (int i = 0; i < parts; ++i) {
      const auto middle = static_cast<float>(size * (0.1 + 0.9 * (i + 0.5) / parts));
      numbers.push_back(middle);
      if (signs == Signs::kBoth) numbers.push_back(-middle);
    }
  }
  std::ranges::sort(numbers);
  return at::tensor(numbers, at::kFloat);
}

/// Returns the midpoints between neighbouring numbers.
at::Tensor middles(Signs signs) {
  const at::Tensor numbers = numbers_of_bytes(signs).to(at::kDouble);
  const std::int64_t count = numbers.numel() - 1;
  return (numbers.narrow(0, 0, count) + numbers.narrow(0, 1, count)) / 2;
}

}  // namespace

const at::Tensor& numbers_of_bytes(Signs signs) {
  static const at::Tensor kBoth = make_numbers(Signs::kBoth);
  static const at::Tensor kPlus = make_numbers(Signs::kPlus);
  return signs == Signs::kBoth ? kBoth : kPlus;
}

EightBits EightBits::zeros(std::int64_t elements, std::int64_t blocks, Signs signs,
                           const at::TensorOptions& scales) {
  const std::int64_t each = ceil_divide(elements / blocks, plan::kScaleBlock);
  EightBits bits{.bytes = at::empty({elements}, scales.dtype(at::kByte)),
                 .scales = at::zeros({blocks * each}, scales),
                 .blocks = blocks,
                 .signs = signs};
  bits.encode(at::zeros({elements}, scales));
  return bits;
}

at::Tensor EightBits::in_blocks(const at::Tensor& flat) const {
  const at::Tensor runs = flat.view({blocks, -1});
  const std::int64_t missing = scales.numel() / blocks * plan::kScaleBlock - runs.size(1);
  return at::constant_pad_nd(runs, {0, missing}).view({-1, plan::kScaleBlock});
}

at::Tensor EightBits::spread_scales() const {
  return scales.view({blocks, -1, 1})
      .expand({blocks, scales.numel() / blocks, plan::kScaleBlock})
      .reshape({blocks, -1})
      .narrow(1, 0, bytes.numel() / blocks)
      .reshape({-1})
      .contiguous();
}

at::Tensor EightBits::values() const {
  const at::Tensor numbers = numbers_of_bytes(signs).to(scales.options());
  return numbers.index_select(0, bytes.to(at::kLong)) * spread_scales();
}

void EightBits::encode(const at::Tensor& values) {
  const at::Tensor all = spread_scales();
  const at::Tensor parts = values / at::where(all > 0, all, at::ones_like(all));
  at::Tensor nearest = at::bucketize(parts, middles(signs).to(scales.options()));
  if (signs == Signs::kBoth) {
    const at::Tensor zero =
        numbers_of_bytes(signs).to(scales.device()).index_select(0, nearest) == 0;
    nearest = nearest - zero.logical_and(values < 0).to(at::kLong);
  }
  bytes.copy_(nearest);
}

void EightBits::store(const at::Tensor& values) {
  scales.copy_(in_blocks(values.abs()).amax(1));
  encode(values);
}

void EightBits::restore(const at::Tensor& values, const at::Tensor& of_each) {
  scales.copy_(in_blocks(of_each).amax(1));
  encode(values);
}

}  // namespace stepwright::runtime
