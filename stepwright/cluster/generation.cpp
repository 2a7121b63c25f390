#include "stepwright/cluster/generation.h"

namespace stepwright {
namespace {

/// Dense 16-bit peaks between which the devices of a generation lie, with some room.
struct Peaks {
  Generation generation;
  double lowest_flops;
  double highest_flops;
};
constexpr Peaks kPeaks[] = {{Generation::kV100, 100e12, 135e12},
                            {Generation::kA100, 280e12, 340e12},
                            {Generation::kH100, 700e12, 1100e12},
                            {Generation::kB200, 2000e12, 3000e12}};

}  // namespace

double sixteen_bit_flops(const Device& device) {
  for (const DType type : {DType::kBf16, DType::kFp16, DType::kFp32, DType::kFp64}) {
    const auto peak = device.peak_flops.find(type);
    if (peak != device.peak_flops.end()) return peak->second;
  }
  return device.peak_flops.empty() ? 1 : device.peak_flops.begin()->second;
}

Generation generation_of(const Device& device) {
  return device.generation ? *device.generation : generation_of_peak(sixteen_bit_flops(device));
}

Generation generation_of_peak(double sixteen_bit_flops_per_s) {
  for (const Peaks& peaks : kPeaks) {
    if (sixteen_bit_flops_per_s >= peaks.lowest_flops &&
        sixteen_bit_flops_per_s <= peaks.highest_flops) {
      return peaks.generation;
    }
  }
  return Generation::kOther;
}

}  // namespace stepwright
