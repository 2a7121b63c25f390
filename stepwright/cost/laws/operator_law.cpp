#include "stepwright/cost/laws/operator_law.h"

#include <cmath>

namespace stepwright::cost {
namespace {

double fourth_power(double number) { return number * number * number * number; }

double arithmetic_s(const OperatorTimeLawConstants& law, const KernelWork& kernel,
                    double flops_per_s) {
  double seconds = kernel.flops * std::pow(kernel.waves, law.wave_weight) *
                   (1 + law.ramp / kernel.depth) / (law.arithmetic_share * flops_per_s);
  if (kernel.uneven_head) seconds *= 1 + law.uneven_head;
  if (kernel.wide_head) seconds *= 1 + law.wide_head;
  if (kernel.head_dim > 0) seconds *= 1 + law.head_ramp / kernel.head_dim;
  return seconds * (1 + law.masked_keys * kernel.masked);
}

}  // namespace

std::array<double, 2> fitted_law_seconds(const OperatorTimeLawConstants& law,
                                         const OperatorPassWork& work, const DevicePeakRates& peaks,
                                         double arithmetic_speedup) {
  std::array<double, 2> seconds{};
  for (int i = 0; i < work.count; ++i) {
    const KernelWork& kernel = work.kernels[i];
    double kernel_s = kernel.bytes / (law.memory_share * peaks.bandwidth_bytes_per_s) +
                      kernel.rows * law.row_ns * 1e-9;
    if (kernel.depth > 0) {
      const double other = arithmetic_s(law, kernel, arithmetic_speedup * peaks.flops);
      kernel_s = std::sqrt(std::sqrt(fourth_power(kernel_s) + fourth_power(other)));
    }
    seconds[i] = kernel_s + work.starts * law.start_us * 1e-6 / work.count;
  }
  return seconds;
}

}  // namespace stepwright::cost
