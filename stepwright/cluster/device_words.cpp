#include "stepwright/cluster/device_words.h"

#include <algorithm>
#include <string>

#include "stepwright/cluster/profile_files.h"
#include "stepwright/core/document.h"
#include "stepwright/core/lower_case.h"

namespace stepwright::cluster {
namespace {

/// Reduces a device's name to letters and digits in lower case, without maker, series and form
/// factor.
std::string plain(std::string_view words) {
  std::string text;
  for (const char c : to_lower_case(words)) {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) text += c;
  }
  for (const std::string_view left_out : {"nvidia", "amd", "geforce", "rtx", "sxm"}) {
    if (const std::size_t at = text.find(left_out); at != std::string::npos) {
      text.erase(at, left_out.size());
    }
  }
  return text;
}

/// Returns the index of the memory size in a device's name, such as that of `-80g` in
/// `h100-sxm-80g`; the name's length if absent.
std::size_t memory_of(std::string_view device) {
  const std::size_t dash = device.rfind('-');
  if (dash == std::string_view::npos || !device.ends_with('g')) return device.size();
  const std::string_view digits = device.substr(dash + 1, device.size() - dash - 2);
  const bool is_number = digits.find_first_not_of("0123456789") == std::string_view::npos;
  return is_number && !digits.empty() ? dash : device.size();
}

/// True if `words` mean a device; they must have passed `plain`.
bool means(const std::string& words, std::string_view device) {
  return words == plain(device) || words == plain(device.substr(0, memory_of(device)));
}

}  // namespace

std::vector<ClusterProfileOfDevice> cluster_profiles_by_device_words(std::string_view words) {
  const std::string meant = plain(words);
  std::vector<ClusterProfileOfDevice> found;
  for (const EmbeddedFile& device : embedded_devices()) {
    if (!means(meant, device.name)) continue;
    std::string_view chosen;
    for (const EmbeddedFile& file : embedded_cluster_files()) {
      const YamlJsonDocument profile = YamlJsonDocument::parse(file.text, std::string(file.name));
      const auto stated = profile.root().find("device");
      if (!stated || !stated->is_scalar() || stated->text() != device.name) continue;
      if (chosen.empty() || file.name.starts_with("dgx-")) chosen = file.name;
    }
    if (!chosen.empty()) found.push_back({chosen, device.name});
  }
  return found;
}

}  // namespace stepwright::cluster
