#pragma once

#include <string_view>
#include <vector>

namespace stepwright::cluster {

/// A built-in profile and the device of its nodes.
struct ProfileOfDevice {
  std::string_view profile, device;
};

/// Finds the built-in profiles whose device a person means by `words`, as in `a10g`, `RTX 3090`,
/// `3090`, `a100-80g` or `h800`, at most one for each device: NVIDIA's own system (`dgx-`) where
/// there is one, else the first by name. Maker, case, form (`sxm`) and memory (`-80g`) may be left
/// out. Empty if no built-in device is meant.
std::vector<ProfileOfDevice> profiles_of_device(std::string_view words);

}  // namespace stepwright::cluster
