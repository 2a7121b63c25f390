#pragma once

#include <string_view>
#include <vector>

namespace stepwright::cluster {

/// The name of a built-in cluster profile, and that of the device in its nodes.
struct ClusterProfileOfDevice {
  std::string_view profile, device;
};

/// Returns the built-in profiles whose device a user means by words such as `a10g`, `RTX 3090`,
/// `a100-80g` or `h800`; at most one for each device, NVIDIA's own system (`dgx-`) if there is one.
/// Maker, case, form factor (`sxm`) and memory size may be left out. Empty: no built-in device is
/// meant.
std::vector<ClusterProfileOfDevice> cluster_profiles_by_device_words(std::string_view words);

}  // namespace stepwright::cluster
