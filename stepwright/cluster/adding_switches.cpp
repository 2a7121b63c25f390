#include "stepwright/cluster/adding_switches.h"

#include <algorithm>

namespace stepwright {
namespace {

/// Devices whose NVSwitches are of the third generation on, by their dense 16-bit peak: Hopper,
/// Blackwell.
bool is_hopper_or_later(const Device& device) {
  double peak = 0;
  for (const DType type : {DType::kFp16, DType::kBf16}) {
    if (const auto rate = device.peak_flops.find(type); rate != device.peak_flops.end()) {
      peak = rate->second;
    }
  }
  return (peak >= 700e12 && peak <= 1100e12) || (peak >= 2000e12 && peak <= 3000e12);
}

}  // namespace

AddingSwitches adding_switches(const Cluster& cluster) {
  const bool adds = is_hopper_or_later(cluster.device) &&
                    std::ranges::any_of(cluster.levels, [](const Level& level) {
                      return level.name == "nvlink" && level.size >= kAddingRanks && !level.mesh;
                    });
  return adds ? AddingSwitches::kInsideNodes : AddingSwitches::kNone;
}

}  // namespace stepwright
