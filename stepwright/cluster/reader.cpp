#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "stepwright/cluster/description.h"
#include "stepwright/cluster/device_words.h"
#include "stepwright/cluster/fields.h"
#include "stepwright/cluster/profile_files.h"
#include "stepwright/core/input_file.h"
#include "stepwright/core/name.h"
#include "stepwright/core/scalar.h"
#include "stepwright/core/utf8.h"

namespace stepwright::cluster {
namespace {

constexpr int kMaxProfileDepth = 8;

double latency_of(DocumentNode node, double otherwise) {
  const std::optional<DocumentNode> latency = node.find("latency");
  return latency ? read_quantity(*latency, QuantityKind::kTime, 0, 1) : otherwise;
}

NetworkLevel read_level(DocumentNode node) {
  node.allow_only_keys({"name", "size", "bandwidth", "latency", "mesh", "links", "source"});
  NetworkLevel level;
  level.size = 0;  // not stated yet
  read_name(node, "name", level.name);
  read_count(node, "size", kMaxDevicesPerNode, level.size);
  read_quantity_field(node, "bandwidth", QuantityKind::kRate, level.uplink_bytes_per_s);
  level.latency_s = latency_of(node, kDefaultIntraNodeLatency);
  if (const auto mesh = node.find("mesh")) level.mesh = mesh->boolean();
  level.links = link_technology_of_level(level.name);
  if (const auto links = node.find("links")) level.links = links->choice(kLinkTechnologyNames);
  return level;
}

NetworkLevelDescription read_network_level(DocumentNode node, std::size_t index) {
  node.allow_only_keys({"name", "nodes", "oversubscription", "latency", "source"});
  NetworkLevelDescription level;
  read_name(node, "name", level.name);
  if (const auto nodes = node.find("nodes")) level.nodes = nodes->integer(2, kMaxClusterDevices);
  if (const auto over = node.find("oversubscription")) {
    level.oversubscription = over->number(1, 1e6);
  }
  level.latency_s = latency_of(node, network_latency(index));
  return level;
}

/// Returns the length of a list; fails if it has more elements than `most`.
std::size_t length_of(DocumentNode node, std::int64_t most) {
  if (!node.is_sequence()) static_cast<void>(node.at(0));  // fails: not a list
  const std::size_t length = node.size();
  if (length > static_cast<std::size_t>(most)) {
    node.fail(fmt::format("has {} elements; at most {} are allowed", length, most));
  }
  return length;
}

void read_lists(DocumentNode node, ClusterDescription& cluster) {
  if (const auto levels = node.find("levels")) {
    cluster.levels.clear();
    const std::size_t count = length_of(*levels, kMaxLevels);
    for (std::size_t i = 0; i < count; ++i) cluster.levels.push_back(read_level(levels->at(i)));
  }
  if (const auto network = node.find("network")) {
    cluster.network.clear();
    const std::size_t count = length_of(*network, kMaxLevels);
    for (std::size_t i = 0; i < count; ++i) {
      cluster.network.push_back(read_network_level(network->at(i), i));
    }
  }
  if (const auto nics = node.find("nic_of_device")) {
    cluster.nic_of_device.clear();
    const std::size_t count = length_of(*nics, kMaxDevicesPerNode);
    for (std::size_t i = 0; i < count; ++i) {
      cluster.nic_of_device.push_back(nics->at(i).integer(0, kMaxDevicesPerNode - 1));
    }
  }
}

void read_size(DocumentNode node, ClusterDescription& cluster) {
  const std::optional<DocumentNode> nodes = node.find("nodes");
  const std::optional<DocumentNode> devices = node.find("devices");
  if (nodes && devices) devices->fail("cannot be given together with 'nodes': give only one");
  if (!nodes && !devices) return;
  cluster.nodes = nodes ? nodes->integer(1, kMaxClusterDevices) : 0;
  cluster.devices = devices ? devices->integer(1, kMaxClusterDevices) : 0;
}

void read_host(DocumentNode node, HostHardware& host) {
  node.allow_only_keys({"memory", "memory_bandwidth", "source"});
  if (const auto memory = node.find("memory")) {
    host.memory_bytes = read_quantity(*memory, QuantityKind::kBytes, 1, kMaxClusterFileQuantity);
  }
  if (const auto bandwidth = node.find("memory_bandwidth")) {
    host.memory_bandwidth_bytes_per_s =
        read_quantity(*bandwidth, QuantityKind::kRate, 1, kMaxClusterFileQuantity);
  }
}

/// Reads nodes with another number of devices than the profile's. If there are fewer and no levels
/// are given, the profile's levels, NICs and host are cut to them.
void read_node_size(DocumentNode node, ClusterDescription& cluster) {
  const std::int64_t of_profile = cluster.devices_per_node;
  std::int64_t devices = of_profile;
  read_count(node, "devices_per_node", kMaxDevicesPerNode, devices);
  if (of_profile > devices && !cluster.levels.empty() && !node.find("levels")) {
    return limit_devices_per_node(cluster, devices);
  }
  cluster.devices_per_node = devices;
  if (of_profile == 0) return;
  // Nodes of the same machine with other device counts have a proportional share of the host.
  const double part = static_cast<double>(devices) / static_cast<double>(of_profile);
  cluster.host.memory_bytes *= part;
  cluster.host.memory_bandwidth_bytes_per_s *= part;
}

void read_keys(DocumentNode node, ClusterDescription& cluster) {
  read_name(node, "name", cluster.name);
  if (cluster.device.name.empty() || node.find("device")) {
    read_device(node.get("device"), cluster.device);
  }
  if (const auto power = node.find("board_power")) {
    cluster.device.board_power_w = power->number(1, 1e5);
  }
  read_size(node, cluster);
  read_node_size(node, cluster);
  if (node.find("nic") || node.find("nics_per_node")) {
    read_quantity_field(node, "nic", QuantityKind::kRate, cluster.nic_bytes_per_s);
    read_count(node, "nics_per_node", kMaxDevicesPerNode, cluster.nics_per_node);
  }
  read_lists(node, cluster);
  if (const auto host = node.find("host")) read_host(*host, cluster.host);
  if (const auto all_reduce = node.find("all_reduce")) {
    cluster.all_reduce_bytes_per_s =
        read_quantity(*all_reduce, QuantityKind::kRate, 1, kMaxClusterFileQuantity);
  }
  if (const auto fit = node.find("fit")) cluster.fit = stepwright::read_name(*fit);
}

/// Other names that people use for a key, and the key itself.
constexpr std::pair<std::string_view, std::string_view> kOtherWords[] = {
    {"gpus", "'devices' (all devices), or 'nodes' (of devices_per_node devices each)"},
    {"num_gpus", "'devices' (all devices), or 'nodes' (of devices_per_node devices each)"},
    {"gpu", "'device'"},
    {"gpus_per_node", "'devices_per_node'"},
    {"num_nodes", "'nodes'"}};

void refuse_other_words(DocumentNode node) {
  if (!node.is_mapping()) return;
  for (const auto& [word, meant] : kOtherWords) {
    if (node.find(word)) node.fail(fmt::format("unknown key '{}': use {}", word, meant));
  }
}

/// Reads a mapping and the files that it names.
class Reader {
 public:
  void read(DocumentNode node, MappingPlace place, const std::filesystem::path& directory) {
    static constexpr std::string_view kKeys[] = {"profile",
                                                 "name",
                                                 "device",
                                                 "board_power",
                                                 "nodes",
                                                 "devices",
                                                 "devices_per_node",
                                                 "nics_per_node",
                                                 "nic",
                                                 "levels",
                                                 "nic_of_device",
                                                 "network",
                                                 "host",
                                                 "all_reduce",
                                                 "fit",
                                                 "source",
                                                 "use"};
    if (node.is_scalar()) return read_word(node, directory);
    refuse_other_words(node);
    check_mapping_keys(node, place, "cluster/1", kKeys);
    if (const auto profile = node.find("profile")) {
      read_profile(*profile, stepwright::read_name(*profile, kLongestPath), directory);
    }
    read_keys(node, cluster_);
  }

  [[nodiscard]] ClusterDescription take() { return std::move(cluster_); }

 private:
  /// Reads PROFILE or PROFILE:NODES; one node if no number is given.
  void read_word(DocumentNode node, const std::filesystem::path& directory) {
    const std::string text = stepwright::read_name(node, kLongestPath);
    const std::size_t colon = std::min(text.rfind(':'), text.size());
    read_profile(node, text.substr(0, colon), directory);
    const IntegerParseResult nodes =
        read_integer(colon < text.size() ? std::string_view(text).substr(colon + 1) : "1");
    if (nodes.status != IntegerParseResult::IntegerParseStatus::kGood || nodes.value < 1 ||
        nodes.value > kMaxClusterDevices) {
      node.fail(
          fmt::format("must be a profile, as dgx-h100, or PROFILE:NODES with 1 to {} nodes; "
                      "it is '{}'",
                      kMaxClusterDevices, one_line_printable_text(text)));
    }
    cluster_.nodes = nodes.value;
  }

  /// Finds a profile by its name, or by the name of its device (h100, a10g, RTX 3090); null: none.
  /// Fails if `name` matches several devices.
  static const EmbeddedFile* profile_named(DocumentNode node, const std::string& name) {
    if (const EmbeddedFile* own = find_embedded_file(embedded_cluster_files(), name)) return own;
    if (const EmbeddedFile* own = find_embedded_file(embedded_cluster_files(), "dgx-" + name))
      return own;
    const std::vector<ClusterProfileOfDevice> found = cluster_profiles_by_device_words(name);
    if (found.empty()) return nullptr;
    if (found.size() > 1) {
      std::vector<std::string> ways;
      for (const auto& [profile, device] : found) {
        ways.push_back(fmt::format("{} ({})", profile, device));
      }
      node.fail(fmt::format("'{}' may be {}: name one of these profiles",
                            one_line_printable_text(name), fmt::join(ways, " or ")));
    }
    return find_embedded_file(embedded_cluster_files(), found.front().profile);
  }

  void read_profile(DocumentNode node, const std::string& name,
                    const std::filesystem::path& directory) {
    if (++depth_ > kMaxProfileDepth) {
      node.fail(fmt::format("profiles name each other more than {} deep", kMaxProfileDepth));
    }
    if (const EmbeddedFile* file = profile_named(node, name)) {
      const YamlJsonDocument document =
          YamlJsonDocument::parse(file->text, std::string(file->name) + ".yaml");
      return read(document.root(), MappingPlace::kFile, {});
    }
    if (name.find_first_of("./") == std::string::npos) {
      fail_unknown_built_in_name(node, "profile", name, embedded_cluster_files(),
                                 "the path of a file");
    }
    const std::filesystem::path path = directory / name;
    if (!path_exists(path)) {
      node.fail(fmt::format("there is no file '{}'", path.string()));
    }
    const YamlJsonDocument document = YamlJsonDocument::load(path);
    read(document.root(), MappingPlace::kFile, path.parent_path());
  }

  ClusterDescription cluster_;
  int depth_ = 0;
};

}  // namespace

ClusterDescription read_cluster_description(DocumentNode node,
                                            const std::filesystem::path& directory) {
  Reader reader;
  reader.read(node, MappingPlace::kInside, directory);
  return reader.take();
}

}  // namespace stepwright::cluster
