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

/// Names of the built-in cluster profiles, sorted.
std::vector<std::string_view> built_in_clusters();

/// Names of the built-in devices, which `device:` of a cluster may say; sorted.
std::vector<std::string_view> built_in_devices();

/// A built-in device. Fails with `kInput`, listing those there are.
Device built_in_device(std::string_view name);

/// A built-in profile with the number of nodes asked for; nothing when there is none of that name.
/// Fails with `kInput` when the number is below 1 or makes more than `kMaxDevices`.
std::optional<Cluster> built_in_cluster(std::string_view name, std::int64_t nodes);

/// A built-in profile or a cluster file with the number of nodes asked for, which may have fewer
/// devices than the profile's. Fails with `kInput` when there is neither, or as above.
Cluster load_cluster(std::string_view name_or_path, std::int64_t nodes,
                     std::optional<std::int64_t> devices_per_node = {});

/// The `cluster:` field of a job: `{profile: NAME-or-file, nodes: N, ...overrides}` or a whole
/// cluster inline (docs/formats.md, "Cluster"). Files are relative to `directory`. Fails with
/// `kInput` when a key is unknown or missing, a value out of range, a profile unknown, a file
/// missing, or sizes do not nest.
Cluster read_cluster(Node node, const std::filesystem::path& directory);

/// The complete inline mapping that `read_cluster` reads back to an equal cluster. It states no
/// value twice: what derives from others (uplinks of the network) is left out.
nlohmann::ordered_json inline_cluster(const Cluster& cluster);

/// The source of every number of a built-in profile: the dotted path of each number in its inline
/// mapping (`device.memory`, `levels.0.bandwidth`) -> source. Empty text: nothing is said (a test
/// forbids it). Fails with `kInput` when there is no profile of that name.
nlohmann::ordered_json cluster_sources(std::string_view name);

/// All built-in profiles for people and programs: an array, one node each, of {name, device,
/// devices_per_node, nics_per_node, nic_bytes_per_s, memory_bytes, memory_bandwidth_bytes_per_s,
/// peak_flops{}, levels[], sources{}}. A level's size is null where it spans all nodes.
nlohmann::ordered_json list_clusters();

}  // namespace stepwright::cluster
