#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "stepwright/cluster/cluster.h"
#include "stepwright/cost/constants.h"
#include "stepwright/plan/job.h"

namespace stepwright {

/// What a generation of devices attains of its peaks, unfitted.
struct DeviceDefaults {
  std::string_view generation;
  double lowest_flops = 0;   ///< Dense 16-bit peak from which ...
  double highest_flops = 0;  ///< ... to which a device counts as one of the generation.
  double matrix_share = 0;   ///< Large products in 16 bits, of their peak.
  /// Rate of products in a running job over their rate alone: power and clocks.
  double sustained_share = 0.9;
  double fp8_speedup = 1;  ///< Of fp8 and mxfp8 products over those in 16 bits.
  double fp4_speedup = 1;  ///< Of nvfp4 products.
  double start_us = 0;     ///< Start of a product: a rate of F / (F + start * rate).
  /// Fused attention forward at head dimension 128, of the 16-bit peak.
  double flash1_share = 0, flash2_share = 0, flash3_share = 0, cudnn_share = 0;
  double network_share = 0;  ///< Of the NICs' line rate.
};

/// The generation that a device's 16-bit peak belongs to, or a generic one, so that any device is
/// priced.
const DeviceDefaults& device_defaults(const Device& device);
const DeviceDefaults& defaults_of_peak(double sixteen_bit_flops_per_s);

/// Dense 16-bit peak; the widest narrower (or else the only) one when the device states none.
double sixteen_bit_flops(const Device& device);

/// Share of the 16-bit peak that the attention kernel reaches forward at head dimension 128.
double attention_share(const DeviceDefaults& defaults, AttentionKernel kernel);

/// The values of a generation with their sources.
std::vector<Constant> listed(const DeviceDefaults& defaults);

}  // namespace stepwright
