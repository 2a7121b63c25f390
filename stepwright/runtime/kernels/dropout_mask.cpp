#include "stepwright/runtime/kernels/dropout_mask.h"

#include <ATen/Parallel.h>
#include <ATen/core/PhiloxRNGEngine.h>

#include <array>
#include <cmath>
#include <utility>

#include "stepwright/runtime/rank/call.h"

namespace stepwright::runtime {
namespace {

constexpr std::int64_t kLanes = 4;  // numbers of one counter

/// Returns the upper half of the counter: the place and layer, then the step.
std::uint64_t stream_of(const DropoutGeneratorInputs& draw) {
  const auto place = static_cast<std::uint64_t>(draw.place);
  const auto layer = static_cast<std::uint64_t>(draw.layer + 1);
  return ((layer * 4 + place) << 32U) + static_cast<std::uint64_t>(draw.step);
}

/// The random numbers of a row, drawn in fours as its columns ask for them.
class RowNumbers {
 public:
  RowNumbers(std::uint64_t seed, std::uint64_t stream, std::int64_t first)
      : seed_(seed), stream_(stream), first_(first) {}

  std::uint32_t at(std::int64_t column) {
    const std::int64_t wanted = column / kLanes;
    if (wanted != drawn_) {
      at::philox_engine engine(seed_, stream_, static_cast<std::uint64_t>(first_ + wanted));
      for (std::uint32_t& number : numbers_) number = engine();
      drawn_ = wanted;
    }
    return numbers_[static_cast<std::size_t>(column % kLanes)];
  }

 private:
  std::uint64_t seed_;
  std::uint64_t stream_;
  std::int64_t first_;
  std::int64_t drawn_ = -1;
  std::array<std::uint32_t, kLanes> numbers_{};
};

std::uint32_t dropped_below(const DropoutGeneratorInputs& draw) {
  return static_cast<std::uint32_t>(std::ldexp(draw.probability, 32));
}

std::int64_t counters_of_row(const DropoutMaskRegion& sheet) {
  return (sheet.width + kLanes - 1) / kLanes;
}

constexpr std::int64_t kWord = 0xffffffff;

/// Returns the upper and lower halves of the products of 32-bit words with a word; no intermediate
/// value needs more than 63 bits.
std::pair<at::Tensor, at::Tensor> high_and_low(const at::Tensor& words, std::int64_t factor) {
  const at::Tensor low = words * (factor & 0xffff);
  const at::Tensor high = words * (factor >> 16) + at::bitwise_right_shift(low, 16);
  return {
      at::bitwise_right_shift(high, 16),
      at::bitwise_left_shift(high, 16).bitwise_or(at::bitwise_and(low, 0xffff)).bitwise_and(kWord)};
}

/// Returns the random numbers of all columns of rows: [rows, columns rounded up to whole counters].
at::Tensor numbers_of_rows(const DropoutGeneratorInputs& draw, const DropoutMaskRegion& sheet) {
  const std::int64_t counters = counters_of_row(sheet);
  const at::Tensor counter =
      sheet.rows.unsqueeze(1) * counters + at::arange(counters, sheet.rows.options());
  const auto stream = static_cast<std::int64_t>(stream_of(draw));
  std::array<at::Tensor, kLanes> words{
      at::bitwise_and(counter, kWord), at::bitwise_right_shift(counter, 32).bitwise_and(kWord),
      at::full_like(counter, stream & kWord), at::full_like(counter, stream >> 32 & kWord)};
  auto key = std::array{static_cast<std::int64_t>(draw.seed & kWord),
                        static_cast<std::int64_t>(draw.seed >> 32U)};
  for (int round = 0; round < 10; ++round) {
    const auto [high, low] = high_and_low(words[0], 0xD2511F53);
    const auto [other_high, other_low] = high_and_low(words[2], 0xCD9E8D57);
    words = {other_high.bitwise_xor(words[1]).bitwise_xor(key[0]), other_low,
             high.bitwise_xor(words[3]).bitwise_xor(key[1]), low};
    key = {(key[0] + 0x9E3779B9) & kWord, (key[1] + 0xBB67AE85) & kWord};
  }
  return at::stack(words, 2).flatten(1);
}

}  // namespace

at::Tensor dropout_keep_mask_by_tensors(const DropoutGeneratorInputs& draw,
                                        const DropoutMaskRegion& sheet) {
  return numbers_of_rows(draw, sheet)
      .index_select(1, sheet.columns)
      .ge(static_cast<std::int64_t>(dropped_below(draw)));
}

at::Tensor dropout_keep_mask(const DropoutGeneratorInputs& draw, const DropoutMaskRegion& sheet) {
  if (!sheet.rows.is_cpu()) return dropout_keep_mask_by_tensors(draw, sheet);
  const at::Tensor rows = sheet.rows.contiguous();
  const at::Tensor columns = sheet.columns.contiguous();
  const std::int64_t count = columns.numel();
  at::Tensor kept = at::empty({rows.numel(), count}, at::kBool);
  const std::uint32_t below = dropped_below(draw);
  const std::uint64_t stream = stream_of(draw);
  const std::int64_t counters = counters_of_row(sheet);
  const auto* row_numbers = rows.const_data_ptr<std::int64_t>();
  const auto* column_numbers = columns.const_data_ptr<std::int64_t>();
  bool* into = kept.mutable_data_ptr<bool>();
  at::parallel_for(0, rows.numel(), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      RowNumbers numbers(draw.seed, stream, row_numbers[i] * counters);
      for (std::int64_t j = 0; j < count; ++j) {
        into[i * count + j] = numbers.at(column_numbers[j]) >= below;
      }
    }
  });
  return kept;
}

DropoutGeneratorInputs dropout_generator_inputs(const KernelCall& call, BlockDropoutKind place) {
  return {.seed = call.rank.options.seed,
          .step = call.rank.step,
          .layer = std::max(call.unit, -1),
          .place = place,
          .probability = call.rank.setting.model->dropout};
}

}  // namespace stepwright::runtime
