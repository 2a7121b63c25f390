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
std::vector<std::string_view> built_in_clusters();

/// Returns the names of the built-in devices, which `device:` of a cluster may name, sorted.
std::vector<std::string_view> built_in_devices();

/// Returns a built-in device. Fails with `kInput`, listing the known devices.
Device built_in_device(std::string_view name);

/// Returns a built-in profile with the given number of nodes; nullopt if no profile has this name.
/// Fails with `kInput` if the number is below 1 or leads to more than `kMaxDevices` devices.
std::optional<Cluster> built_in_cluster(std::string_view name, std::int64_t nodes);

/// Returns a built-in profile or a cluster file with the given number of nodes, each with the given
/// number of devices if that is fewer than the profile's. Fails with `kInput` if neither exists, or
/// as `built_in_cluster`.
Cluster load_cluster(std::string_view name_or_path, std::int64_t nodes,
                     std::optional<std::int64_t> devices_per_node = {});

/// Reads the field `cluster:` of a job: `{profile: NAME-or-file, nodes: N, ...overrides}` or a
/// whole cluster inline (docs/formats.md, "Cluster"). Paths are relative to `directory`. Fails with
/// `kInput` if a key is unknown or missing, a value is out of range, a profile is unknown, a file
/// is missing, or sizes of levels are not multiples of each other.
Cluster read_cluster(Node node, const std::filesystem::path& directory);

/// Returns the complete inline mapping that `read_cluster` reads back as an equal cluster. Values
/// that follow from others (uplinks of the network) are left out.
nlohmann::ordered_json inline_cluster(const Cluster& cluster);

/// Returns the source of every number in a built-in profile, by its dotted path in the inline
/// mapping (`device.memory`, `levels.0.bandwidth`). Empty: no source is given, which a test
/// forbids. Fails with `kInput` if no profile has this name.
nlohmann::ordered_json cluster_sources(std::string_view name);

/// Returns all built-in profiles as an array, each with one node: {name, device, devices_per_node,
/// nics_per_node, nic_bytes_per_s, memory_bytes, memory_bandwidth_bytes_per_s, peak_flops{},
/// levels[], sources{}}. The size of a level that spans all nodes is null.
nlohmann::ordered_json list_clusters();

}  // namespace stepwright::cluster
