#include "stepwright/cluster/catalog.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "stepwright/cluster/description.h"
#include "stepwright/cluster/profile_files.h"
#include "stepwright/core/tree.h"

namespace stepwright::cluster {
namespace {

using Json = nlohmann::ordered_json;

Json listed_level(const Cluster& cluster, const NetworkLevel& level) {
  const bool spans_all = level.network && &level == &cluster.levels.back();
  return {{"name", level.name},
          {"size", spans_all ? Json(nullptr) : Json(level.size)},
          {"uplink_bytes_per_s", level.uplink_bytes_per_s},
          {"latency_s", level.latency_s}};
}

Json listed_cluster(std::string_view name) {
  const Cluster cluster = built_in_cluster(name, 1).value();
  Json peaks = Json::object();
  for (const auto& [type, flops] : cluster.device.peak_flops) {
    peaks[std::string(name_of(kDTypeNames, type))] = flops;
  }
  Json levels = Json::array();
  for (const NetworkLevel& level : cluster.levels) levels.push_back(listed_level(cluster, level));
  return {{"name", cluster.name},
          {"device", cluster.device.name},
          {"devices_per_node", cluster.devices_per_node},
          {"nics_per_node", cluster.nics_per_node},
          {"nic_bytes_per_s", cluster.nic_bytes_per_s},
          {"memory_bytes", cluster.device.memory_bytes},
          {"memory_bandwidth_bytes_per_s", cluster.device.memory_bandwidth_bytes_per_s},
          {"peak_flops", std::move(peaks)},
          {"levels", std::move(levels)},
          {"sources", cluster_number_sources(name)}};
}

}  // namespace

std::vector<std::string_view> built_in_cluster_names() {
  return embedded_file_names(embedded_cluster_files());
}
std::vector<std::string_view> built_in_device_names() {
  return embedded_file_names(embedded_devices());
}

std::optional<Cluster> built_in_cluster(std::string_view name, std::int64_t nodes) {
  if (find_embedded_file(embedded_cluster_files(), name) == nullptr) return std::nullopt;
  return load_cluster(name, nodes);
}

Cluster load_cluster(std::string_view name_or_path, std::int64_t nodes,
                     std::optional<std::int64_t> devices_per_node) {
  DocumentTree cluster =
      DocumentTree::make_empty_mapping().set("profile", name_or_path).set("nodes", nodes);
  if (devices_per_node) cluster.set("devices_per_node", *devices_per_node);
  const YamlJsonDocument document = YamlJsonDocument::from_tree(std::move(cluster), "cluster");
  return read_job_cluster(document.root(), {});
}

Cluster read_job_cluster(DocumentNode node, const std::filesystem::path& directory) {
  return complete_cluster_description(read_cluster_description(node, directory), node);
}

Json built_in_clusters_json() {
  Json list = Json::array();
  for (const std::string_view name : built_in_cluster_names()) list.push_back(listed_cluster(name));
  return list;
}

}  // namespace stepwright::cluster
