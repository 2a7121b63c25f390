#pragma once

#include <array>
#include <string_view>

#include "stepwright/cost/laws/constants.h"
#include "stepwright/cost/laws/operator_features.h"

namespace stepwright::cost {

/// Fitted constants of the law that gives the time of one operator class, forward or backward.
/// Rates are shares of the device's peaks, so that the law also applies to devices with other
/// peaks.
struct OperatorTimeLawConstants {
  double start_us = 0;          ///< Fixed microseconds of a forward or backward, whatever its size.
  double arithmetic_share = 1;  ///< Share of the 16-bit peak FLOP/s that the kernel attains.
  /// Exponent of `KernelWork::waves`; 0: partial waves cost nothing; 1: they cost full waves.
  double wave_weight = 0;
  /// Cost of filling the pipeline, as additional elements of the inner dimension.
  double ramp = 0;
  double memory_share = 1;  ///< Share of the peak memory bandwidth that the kernel attains.
  double row_ns = 0;  ///< Nanoseconds of a kernel per row, beside the time to move the row's bytes.
  /// Relative additional time of fused attention if its head dimension is padded (0.2: 20 %
  /// longer).
  double uneven_head = 0;
  /// Relative additional time of fused attention if its head dimension is above 128.
  double wide_head = 0;
  /// Fixed work per attention head, as additional elements of the head dimension.
  double head_ramp = 0;
  double masked_keys = 0;  ///< Work on tiles that a mask cuts, as additional keys per query.
};

struct LawConstant {
  std::string_view name;
  double OperatorTimeLawConstants::* value;
  /// Initial value of the constant in a fit, kept if the measured rows do not determine it.
  double prior;
  bool arithmetic;  ///< True if only matrix products and attention use the constant.
  /// True if the fitted constant is used for fused attention only.
  bool attention;
  /// True if the constant is used only by operator classes that memory bandwidth limits.
  bool vector;
};
/// Smallest share of a device's peak that a profile may state; a smaller one must have been written
/// in wrong units.
inline constexpr double kMinDevicePeakShare = 1e-12;
/// True if a constant of a law is the share of a device's peak that a kernel attains.
constexpr bool is_peak_share(const LawConstant& constant) {
  return constant.name.ends_with("_share");
}

/// All constants of a fitted law with name, member, prior and the classes that use them (`uses`).
inline constexpr LawConstant kOperatorLawConstants[] = {
    {"start_us", &OperatorTimeLawConstants::start_us, 5, false, false, false},
    {"arithmetic_share", &OperatorTimeLawConstants::arithmetic_share, 0.8, true, false, false},
    {"wave_weight", &OperatorTimeLawConstants::wave_weight, 0.5, true, false, false},
    {"ramp", &OperatorTimeLawConstants::ramp, 50, true, false, false},
    {"memory_share", &OperatorTimeLawConstants::memory_share, 0.8, false, false, false},
    {"row_ns", &OperatorTimeLawConstants::row_ns, 0.1, false, false, true},
    {"uneven_head", &OperatorTimeLawConstants::uneven_head, 0.2, true, true, false},
    {"wide_head", &OperatorTimeLawConstants::wide_head, 0.1, true, true, false},
    {"head_ramp", &OperatorTimeLawConstants::head_ramp, 20, true, true, false},
    {"masked_keys", &OperatorTimeLawConstants::masked_keys, constants::kMaskedKeys.value, true,
     true, false}};

constexpr bool uses(OperatorClass what, const LawConstant& constant) {
  if (constant.attention) return what == OperatorClass::kAttention;
  if (constant.arithmetic) return can_be_compute_bound(what);
  if (constant.vector) return !can_be_compute_bound(what);
  return true;
}

/// Peak FLOP/s and memory bandwidth of a device, of which a fitted law states shares.
struct DevicePeakRates {
  double flops = 1;  ///< Peak dense FLOP/s in 16-bit types.
  double bandwidth_bytes_per_s = 1;
};

/// Returns the seconds of each kernel of a forward or backward by the fitted law. Each takes an
/// equal part of the start, and the smooth maximum (fourth powers) of
///   flops * waves^wave_weight * (1 + ramp / depth) / (arithmetic_share * peak) and
///   bytes / (memory_share * bandwidth) + rows * row_ns.
/// For fused attention, flops are multiplied by (1 + uneven_head) and (1 + wide_head) if they
/// apply, and by (1 + head_ramp / head_dim) and (1 + masked_keys * masked). `arithmetic_speedup`:
/// factor on the FLOP/s, as of a narrower type.
std::array<double, 2> fitted_law_seconds(const OperatorTimeLawConstants& law,
                                         const OperatorPassWork& work, const DevicePeakRates& peaks,
                                         double arithmetic_speedup = 1);

}  // namespace stepwright::cost
