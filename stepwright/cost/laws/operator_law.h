#pragma once

#include <array>
#include <string_view>

#include "stepwright/cost/laws/constants.h"
#include "stepwright/cost/laws/operator_features.h"

namespace stepwright::cost {

/// The constants of the law of one class and pass on one device. A share refers to a peak of the
/// device, so that a law also applies to a device with other peaks.
struct LawConstants {
  double start_us = 0;          ///< Microseconds to start a pass, whatever its size.
  double arithmetic_share = 1;  ///< Share of the 16-bit peak that arithmetic attains.
  double wave_weight = 0;       ///< Exponent of `KernelWork::waves`; 1: tiles wait for full waves.
  double ramp = 0;  ///< Extra depth of the inner sum that each result costs: filling the pipeline.
  double memory_share = 1;  ///< Share of the memory bandwidth, over the counted bytes.
  double row_ns = 0;        ///< Nanoseconds per row, in addition to its bytes.
  double uneven_head = 0;   ///< Relative extra time where the head dimension is padded.
  double wide_head = 0;     ///< Relative extra time where the head dimension is above 128.
  double head_ramp = 0;     ///< Extra head dimension that each head costs.
  double masked_keys = 0;   ///< Extra keys per query where a mask cuts tiles.
};

struct LawConstant {
  std::string_view name;
  double LawConstants::* value;
  /// Value at which a fit starts, and which it keeps where the rows do not determine the constant.
  double prior;
  bool arithmetic;  ///< True if it belongs to the arithmetic of products and attention.
  bool attention;   ///< True if it belongs to fused attention only.
  bool vector;      ///< True if it belongs to classes without arithmetic.
};
/// The least share of a peak in a law: a rate that is a trillion times slower was stated in other
/// units.
inline constexpr double kMinPeakShare = 1e-12;
/// True if a constant is a share of a peak, by which work is divided.
constexpr bool is_share(const LawConstant& constant) { return constant.name.ends_with("_share"); }

/// All constants of laws; `uses` says which of them a class uses.
inline constexpr LawConstant kLawConstants[] = {
    {"start_us", &LawConstants::start_us, 5, false, false, false},
    {"arithmetic_share", &LawConstants::arithmetic_share, 0.8, true, false, false},
    {"wave_weight", &LawConstants::wave_weight, 0.5, true, false, false},
    {"ramp", &LawConstants::ramp, 50, true, false, false},
    {"memory_share", &LawConstants::memory_share, 0.8, false, false, false},
    {"row_ns", &LawConstants::row_ns, 0.1, false, false, true},
    {"uneven_head", &LawConstants::uneven_head, 0.2, true, true, false},
    {"wide_head", &LawConstants::wide_head, 0.1, true, true, false},
    {"head_ramp", &LawConstants::head_ramp, 20, true, true, false},
    {"masked_keys", &LawConstants::masked_keys, constants::kMaskedKeys.value, true, true, false}};

constexpr bool uses(OperatorClass what, const LawConstant& constant) {
  if (constant.attention) return what == OperatorClass::kAttention;
  if (constant.arithmetic) return has_arithmetic(what);
  if (constant.vector) return !has_arithmetic(what);
  return true;
}

/// The peaks of a device to which the shares of a law refer.
struct DevicePeaks {
  double flops = 1;  ///< Peak dense FLOP/s in 16 bits.
  double bandwidth_bytes_per_s = 1;
};

/// Returns the seconds of each kernel of a pass; the start is divided evenly among them. A kernel
/// takes the smooth maximum (fourth powers) of
///   flops * waves^wave_weight * (1 + ramp / depth) / (arithmetic_share * peak) and
///   bytes / (memory_share * bandwidth) + rows * row_ns.
/// For a fused attention the arithmetic is multiplied by (1 + uneven_head) and (1 + wide_head)
/// where they apply, and by (1 + head_ramp / head_dim) and (1 + masked_keys * masked).
/// `arithmetic_speedup`: factor on the rate of arithmetic, as of a narrower type.
std::array<double, 2> law_seconds(const LawConstants& law, const PassWork& work,
                                  const DevicePeaks& peaks, double arithmetic_speedup = 1);

}  // namespace stepwright::cost
