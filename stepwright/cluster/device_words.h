#pragma once

#include <string_view>
#include <vector>

namespace stepwright::cluster {

/// A built-in profile and the device of its nodes.
struct ProfileOfDevice {
  std::string_view profile, device;
};

/// Finds the built-in profiles whose device a user means by `words`, such as `a10g`, `RTX 3090`,
/// `3090`, `a100-80g` or `h800`, at most one for each device: NVIDIA's own system (`dgx-`) if there
/// is one, else the first by name. The maker, case, form factor (`sxm`) and memory size (`-80g`)
/// may be left out. Empty: no built-in device is meant.
std::vector<ProfileOfDevice> profiles_of_device(std::string_view words);

}  // namespace stepwright::cluster
