#include "stepwright/collective/link_bytes.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace stepwright::collective {
namespace {

/// Number of ranks in one of the units that level `level` joins.
std::int64_t lower_size(const cluster::Cluster& cluster, std::size_t level) {
  return level == 0 ? 1 : cluster.levels[level - 1].size;
}

std::size_t units(std::int64_t ranks, std::int64_t size) {
  return static_cast<std::size_t>((ranks + size - 1) / size);
}

DirectedLinkBytes load_of(std::string name, const std::vector<double>& bytes) {
  DirectedLinkBytes result{.name = std::move(name), .units = std::ssize(bytes)};
  if (bytes.empty()) return result;
  const auto busiest = std::max_element(bytes.begin(), bytes.end());
  result.busiest_unit = busiest - bytes.begin();
  result.busiest_bytes = *busiest;
  result.mean_bytes =
      std::accumulate(bytes.begin(), bytes.end(), 0.0) / static_cast<double>(bytes.size());
  return result;
}

}  // namespace

LinkByteCounter::LinkByteCounter(const cluster::Cluster& cluster, std::int64_t ranks)
    : cluster_(cluster), node_levels_(static_cast<std::size_t>(intra_node_level_count(cluster))) {
  for (std::size_t i = 0; i < cluster.levels.size(); ++i) {
    levels_.emplace_back(units(ranks, lower_size(cluster, i)));
  }
  if (!cluster.nic_of_device.empty()) {
    nics_.resize(units(ranks, cluster.devices_per_node) *
                 static_cast<std::size_t>(cluster.nics_per_node));
  }
}

void LinkByteCounter::add(std::int64_t from, std::int64_t to, double bytes) {
  const std::int64_t devices = cluster_.devices_per_node;
  const bool leaves_node = from / devices != to / devices;
  const std::size_t first = leaves_node ? node_levels_ : 0;
  const std::size_t end = leaves_node ? levels_.size() : node_levels_;
  for (std::size_t i = first; i < end; ++i) {
    const std::int64_t lower = lower_size(cluster_, i);
    if (from / lower != to / lower) levels_[i][static_cast<std::size_t>(from / lower)] += bytes;
  }
  if (!leaves_node || nics_.empty()) return;
  const std::int64_t nic = cluster_.nic_of_device[static_cast<std::size_t>(from % devices)];
  nics_[static_cast<std::size_t>(from / devices * cluster_.nics_per_node + nic)] += bytes;
}

LinkLoads LinkByteCounter::loads() const {
  LinkLoads result;
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    result.levels.push_back(load_of(cluster_.levels[i].name, levels_[i]));
  }
  result.nics = load_of("nic", nics_);
  return result;
}

}  // namespace stepwright::collective
