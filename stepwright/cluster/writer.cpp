#include <nlohmann/json.hpp>

#include "stepwright/cluster/catalog.h"
#include "stepwright/cluster/description.h"
#include "stepwright/cluster/generation.h"

namespace stepwright::cluster {
namespace {

using Json = nlohmann::ordered_json;

Json device_json(const DeviceModel& device) {
  Json peak = Json::object();
  for (const auto& [type, flops] : device.peak_flops) {
    peak[std::string(name_of(kDTypeNames, type))] = flops;
  }
  Json mapping = {{"name", device.name},
                  {"memory", device.memory_bytes},
                  {"memory_bandwidth", device.memory_bandwidth_bytes_per_s},
                  {"peak", std::move(peak)}};
  if (device.host_link_bytes_per_s > 0) mapping["host_link"] = device.host_link_bytes_per_s;
  if (device.generation != nullptr) mapping["generation"] = device.generation->name;
  if (device.variant) mapping["variant"] = true;
  if (device.board_power_w > 0) mapping["board_power"] = device.board_power_w;
  return mapping;
}

Json level_json(const NetworkLevel& level) {
  Json entry = {{"name", level.name},
                {"size", level.size},
                {"bandwidth", level.uplink_bytes_per_s},
                {"latency", level.latency_s}};
  if (level.mesh) entry["mesh"] = true;
  if (level.links != link_technology_of_level(level.name)) {
    entry["links"] = name_of(kLinkTechnologyNames, level.links);
  }
  return entry;
}

Json network_level_json(const NetworkLevel& level, std::int64_t nodes) {
  Json entry = {{"name", level.name}};
  if (nodes > 0) entry["nodes"] = nodes;
  entry["oversubscription"] = level.oversubscription;
  entry["latency"] = level.latency_s;
  return entry;
}

}  // namespace

Json inline_cluster_mapping(const Cluster& cluster) {
  Json levels = Json::array();
  Json network = Json::array();
  for (const NetworkLevel& level : cluster.levels) {
    const bool last = &level == &cluster.levels.back();
    const std::int64_t nodes = last ? 0 : level.size / cluster.devices_per_node;
    if (level.network) network.push_back(network_level_json(level, nodes));
    if (!level.network) levels.push_back(level_json(level));
  }
  Json mapping = {{"name", cluster.name},
                  {"device", device_json(cluster.device)},
                  {"nodes", cluster.nodes},
                  {"devices_per_node", cluster.devices_per_node}};
  if (cluster.nic_bytes_per_s > 0) {
    mapping["nics_per_node"] = cluster.nics_per_node;
    mapping["nic"] = cluster.nic_bytes_per_s;
  }
  if (cluster.nic_of_device !=
      default_nic_of_devices(cluster.devices_per_node, cluster.nics_per_node)) {
    mapping["nic_of_device"] = cluster.nic_of_device;
  }
  mapping["levels"] = std::move(levels);
  if (!network.empty()) mapping["network"] = std::move(network);
  Json host = Json::object();
  if (cluster.host.memory_bytes > 0) host["memory"] = cluster.host.memory_bytes;
  if (cluster.host.memory_bandwidth_bytes_per_s > 0) {
    host["memory_bandwidth"] = cluster.host.memory_bandwidth_bytes_per_s;
  }
  if (!host.empty()) mapping["host"] = std::move(host);
  if (cluster.all_reduce_bytes_per_s > 0) mapping["all_reduce"] = cluster.all_reduce_bytes_per_s;
  mapping["fit"] = cluster.fit;
  return mapping;
}

}  // namespace stepwright::cluster
