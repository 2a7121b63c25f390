#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "stepwright/cluster/cluster.h"
#include "stepwright/core/document.h"

namespace stepwright::cluster {

/// Returns the names of the built-in cluster profiles, sorted.
std::vector<std::string_view> built_in_cluster_names();

/// Returns the names of the built-in devices (GPU models), sorted; a cluster file may name one as
/// `device:`.
std::vector<std::string_view> built_in_device_names();

/// Returns a built-in device (GPU model) by its name. Fails with `kInput`, listing the known
/// devices.
DeviceModel built_in_device(std::string_view name);

/// Returns a built-in cluster profile with the given number of nodes; nullopt if no profile has
/// this name. Fails with `kInput` if the number is below 1 or means more than `kMaxClusterDevices`
/// devices.
std::optional<Cluster> built_in_cluster(std::string_view name, std::int64_t nodes);

/// Returns the cluster of a built-in profile or cluster file with the given numbers of nodes and of
/// devices per node; the latter may only reduce the profile's number. Fails with `kInput` if
/// neither a profile nor a file has this name, or if a number is out of range.
Cluster load_cluster(std::string_view name_or_path, std::int64_t nodes,
                     std::optional<std::int64_t> devices_per_node = {});

/// Reads the field `cluster:` of a job: `{profile: NAME-or-file, nodes: N, ...overrides}` or a
/// whole cluster inline (docs/formats.md, "Cluster"). Paths are relative to `directory`. Fails with
/// `kInput` for unknown or missing keys, values out of range, an unknown profile, a missing file,
/// or level sizes that are not multiples of each other.
Cluster read_job_cluster(DocumentNode node, const std::filesystem::path& directory);

/// Returns a cluster as the complete mapping that a job file can contain inline. `read_job_cluster`
/// reads it back as an equal cluster. Derived values (bandwidths of network uplinks) are left out.
nlohmann::ordered_json inline_cluster_mapping(const Cluster& cluster);

/// Returns the source (a URL or a measurement) of every number in a built-in cluster profile, by
/// the number's path in the profile (`device.memory`, `levels.0.bandwidth`). Fails with `kInput` if
/// no profile has this name.
nlohmann::ordered_json cluster_number_sources(std::string_view name);

/// Returns all built-in cluster profiles, each with one node, as a JSON array of {name, device,
/// devices_per_node, nics_per_node, nic_bytes_per_s, memory_bytes, memory_bandwidth_bytes_per_s,
/// peak_flops{}, levels[], sources{}}. The size of a level that spans all nodes is null.
nlohmann::ordered_json built_in_clusters_json();

}  // namespace stepwright::cluster
