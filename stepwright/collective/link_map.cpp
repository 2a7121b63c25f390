#include "stepwright/collective/link_map.h"

#include <algorithm>

#include "stepwright/collective/wire.h"

namespace stepwright::collective {

LinkMap::LinkMap(const cluster::Cluster& cluster, bool full_duplex, NodeLinkSharing nodes)
    : cluster_(cluster),
      full_duplex_(full_duplex),
      nodes_(nodes),
      node_levels_(static_cast<std::size_t>(intra_node_level_count(cluster))) {}

LinkPath LinkMap::links_between_devices(std::int64_t from, std::int64_t to) {
  const std::int64_t devices = cluster_.devices_per_node;
  const bool leaves_node = from / devices != to / devices;
  LinkPath path;
  const std::size_t end = leaves_node ? cluster_.levels.size() : node_levels_;
  for (std::size_t i = leaves_node ? node_levels_ : 0; i < end; ++i) add_level(path, i, from, to);
  if (leaves_node) add_nics(path, from, to);
  return path;
}

void LinkMap::add_level(LinkPath& path, std::size_t level, std::int64_t from, std::int64_t to) {
  const std::int64_t lower = level == 0 ? 1 : cluster_.levels[level - 1].size;
  std::int64_t out = from / lower;
  std::int64_t in = to / lower;
  if (out == in) return;
  if (level >= node_levels_) {
    out = unit_with_representative_links(out, 1);
    in = unit_with_representative_links(in, 1);
  }
  const cluster::NetworkLevel& crossed = cluster_.levels[level];
  path.latency_s = crossed.latency_s;
  const auto number = static_cast<std::int32_t>(level);
  if (crossed.mesh) {
    const auto others = static_cast<double>(std::max<std::int64_t>(1, crossed.size / lower - 1));
    return add(path, {number, out, in, Side::kOut}, crossed.uplink_bytes_per_s / others);
  }
  add(path, {number, out, -1, Side::kOut}, crossed.uplink_bytes_per_s);
  add(path, {number, in, -1, Side::kIn}, crossed.uplink_bytes_per_s);
}

void LinkMap::add_nics(LinkPath& path, std::int64_t from, std::int64_t to) {
  if (cluster_.nic_of_device.empty()) return;
  const std::int64_t devices = cluster_.devices_per_node;
  const std::int64_t own = std::max<std::int64_t>(1, cluster_.nics_per_node / devices);
  const double rate = cluster_.nic_bytes_per_s * static_cast<double>(own);
  const auto nic_of = [&](std::int64_t rank) {
    const std::int64_t nic = rank / devices * cluster_.nics_per_node +
                             cluster_.nic_of_device[static_cast<std::size_t>(rank % devices)];
    return unit_with_representative_links(nic, cluster_.nics_per_node);
  };
  const auto level = static_cast<std::int32_t>(cluster_.levels.size());
  add(path, {level, nic_of(from), -1, Side::kOut}, rate);
  add(path, {level, nic_of(to), -1, Side::kIn}, rate);
}

void LinkMap::add(LinkPath& path, LinkKey key, double rate) {
  if (rate <= 0) return;
  if (!full_duplex_) {
    key.side = Side::kOut;
    if (key.other >= 0 && key.other < key.unit) std::swap(key.unit, key.other);
  }
  const auto [known, added] = ids_.try_emplace(key, static_cast<std::int32_t>(rates_.size()));
  if (added) rates_.push_back(rate);
  path.links[static_cast<std::size_t>(path.count++)] = known->second;
}

}  // namespace stepwright::collective
