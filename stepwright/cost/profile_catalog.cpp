#include "stepwright/cost/profile_catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "stepwright/core/error.h"
#include "stepwright/core/nearest.h"
#include "stepwright/cost/device_defaults.h"

namespace stepwright {
namespace {

/// Parsed once, then constant.
const std::vector<OperatorProfile>& parsed_profiles() {
  static const std::vector<OperatorProfile> kProfiles = [] {
    std::vector<OperatorProfile> profiles;
    for (const EmbeddedFile& file : embedded_profiles()) {
      profiles.push_back(read_operator_profile(
          Document::parse(file.text, fmt::format("built-in profile {}", file.name))));
    }
    return profiles;
  }();
  return kProfiles;
}

double distance(const OperatorProfile& profile, const Device& device) {
  if (profile.device == device.name) return -1;
  return std::abs(std::log(sixteen_bit_flops(device) / profile.peaks.flops)) +
         std::abs(
             std::log(device.memory_bandwidth_bytes_per_s / profile.peaks.bandwidth_bytes_per_s));
}

}  // namespace

std::vector<std::string_view> built_in_profiles() { return names_of(embedded_profiles()); }

Document load_profile(const std::string& name_or_path) {
  if (const EmbeddedFile* file = find_embedded(embedded_profiles(), name_or_path)) {
    return Document::parse(file->text, fmt::format("built-in profile {}", file->name));
  }
  if (std::filesystem::exists(name_or_path)) return Document::load(name_or_path);
  fail_input(fmt::format("{}: is neither a file nor a built-in profile; allowed: {}", name_or_path,
                         list_of(built_in_profiles())));
}

std::vector<const OperatorProfile*> operator_profiles_for(const Device& device) {
  std::vector<const OperatorProfile*> profiles;
  for (const OperatorProfile& profile : parsed_profiles()) profiles.push_back(&profile);
  std::ranges::stable_sort(
      profiles, {}, [&](const OperatorProfile* profile) { return distance(*profile, device); });
  return profiles;
}

}  // namespace stepwright
