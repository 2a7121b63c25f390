#include <nlohmann/json.hpp>

#include "stepwright/cluster/catalog.h"
#include "stepwright/cluster/description.h"
#include "stepwright/core/tree.h"
#include "stepwright/lab/spec.h"

namespace stepwright::lab {
namespace {

/// One-way latency of TCP between two processes of one machine; docs/emulation.md says how it was
/// measured.
constexpr double kInsideLatency = 25e-6;
constexpr double kNicLatency = 30e-6;

cluster::ClusterDescription description_of(const EmulatedClusterSpec& spec) {
  cluster::ClusterDescription cluster{.name = spec.name,
                                      .device = spec.device,
                                      .nodes = spec.nodes,
                                      .devices_per_node = spec.ranks_per_node,
                                      .nics_per_node = spec.nics_per_node(),
                                      .nic_bytes_per_s = spec.nic.rate_bytes_per_s};
  cluster.network.push_back({.name = "network", .latency_s = kNicLatency});
  if (spec.ranks_per_node > 1) {
    const double share = spec.inside.rate_bytes_per_s / static_cast<double>(spec.ranks_per_node);
    cluster.levels.push_back({.name = "bus",
                              .size = spec.ranks_per_node,
                              .uplink_bytes_per_s = share,
                              .latency_s = kInsideLatency});
  }
  return cluster;
}

}  // namespace

cluster::Cluster emulated_cluster_for_prediction(const EmulatedClusterSpec& spec) {
  const YamlJsonDocument document =
      YamlJsonDocument::from_tree(DocumentTree::make_empty_mapping(), spec.name);
  return cluster::complete_cluster_description(description_of(spec), document.root());
}

nlohmann::ordered_json emulated_cluster_profile(const EmulatedClusterSpec& spec) {
  nlohmann::ordered_json profile = {{"stepwright", "cluster/1"}};
  profile.update(cluster::inline_cluster_mapping(emulated_cluster_for_prediction(spec)));
  profile["source"] = "an emulated cluster; nominal rates of its lab file";
  return profile;
}

}  // namespace stepwright::lab
