#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "stepwright/cluster/cluster.h"
#include "stepwright/cluster/generation.h"
#include "stepwright/cost/constants.h"
#include "stepwright/plan/job.h"

namespace stepwright {

/// What a generation of devices attains of its peaks, unfitted.
struct DeviceDefaults {
  Generation generation{};
  double matrix_share = 0;  ///< Large products in 16 bits, of their peak.
  /// Rate of products in a running job over their rate alone: power and clocks.
  double sustained_share = 0.9;
  double fp8_speedup = 1;  ///< Of fp8 and mxfp8 products over those in 16 bits.
  double fp4_speedup = 1;  ///< Of nvfp4 products.
  double start_us = 0;     ///< Start of a product: a rate of F / (F + start * rate).
  /// Fused attention forward at head dimension 128, of the 16-bit peak.
  double flash1_share = 0, flash2_share = 0, flash3_share = 0, cudnn_share = 0;
  double network_share = 0;  ///< Of the NICs' line rate.
};

/// Those of a generation; generic ones for other devices, so that any device is priced.
const DeviceDefaults& defaults_of(Generation generation);
inline const DeviceDefaults& device_defaults(const Device& device) {
  return defaults_of(generation_of(device));
}

/// Share of the 16-bit peak that the attention kernel reaches forward at head dimension 128.
double attention_share(const DeviceDefaults& defaults, AttentionKernel kernel);

/// The values of a generation with their sources.
std::vector<Constant> listed(const DeviceDefaults& defaults);

}  // namespace stepwright
