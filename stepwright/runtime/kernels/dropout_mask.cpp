#include "stepwright/runtime/kernels/dropout_mask.h"

#include <ATen/Parallel.h>
#include <ATen/core/PhiloxRNGEngine.h>

#include <array>
#include <cmath>

#include "stepwright/runtime/execute/call.h"

namespace stepwright {
namespace {

constexpr std::int64_t kLanes = 4;  // numbers of one counter

/// The upper half of the counter: places of all layers, then the step.
std::uint64_t stream_of(const DropoutDraw& draw) {
  const auto place = static_cast<std::uint64_t>(draw.place);
  const auto layer = static_cast<std::uint64_t>(draw.layer + 1);
  return ((layer * 4 + place) << 32U) + static_cast<std::uint64_t>(draw.step);
}

/// The numbers of a row, four by four as its columns ask for them.
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

}  // namespace

at::Tensor kept_elements(const DropoutDraw& draw, const DropoutSheet& sheet) {
  const at::Tensor rows = sheet.rows.to(at::kCPU).contiguous();
  const at::Tensor columns = sheet.columns.to(at::kCPU).contiguous();
  const std::int64_t count = columns.numel();
  at::Tensor kept = at::empty({rows.numel(), count}, at::kBool);
  const auto dropped_below = static_cast<std::uint32_t>(std::ldexp(draw.probability, 32));
  const std::uint64_t stream = stream_of(draw);
  const std::int64_t counters_of_row = (sheet.width + kLanes - 1) / kLanes;
  const auto* row_numbers = rows.const_data_ptr<std::int64_t>();
  const auto* column_numbers = columns.const_data_ptr<std::int64_t>();
  bool* into = kept.mutable_data_ptr<bool>();
  at::parallel_for(0, rows.numel(), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      RowNumbers numbers(draw.seed, stream, row_numbers[i] * counters_of_row);
      for (std::int64_t j = 0; j < count; ++j) {
        into[i * count + j] = numbers.at(column_numbers[j]) >= dropped_below;
      }
    }
  });
  return kept.to(sheet.rows.device());
}

DropoutDraw draw_of(const Call& call, DropoutPlace place) {
  return {.seed = call.rank.options.seed,
          .step = call.rank.step,
          .layer = call.layer,
          .place = place,
          .probability = call.rank.setting.model->dropout};
}

}  // namespace stepwright
