#include "stepwright/traffic/links.h"

#include <algorithm>
#include <numeric>

#include "stepwright/collective/wire.h"

namespace stepwright {
namespace {

/// Bytes per unit of one kind.
class Units {
 public:
  Units(std::string name, std::int64_t count)
      : name_(std::move(name)), bytes_(static_cast<std::size_t>(count)) {}

  void add(std::int64_t unit, double bytes) { bytes_[static_cast<std::size_t>(unit)] += bytes; }

  [[nodiscard]] LinkLoad load() const {
    LinkLoad result{.name = name_, .units = std::ssize(bytes_)};
    if (bytes_.empty()) return result;
    const auto busiest = std::max_element(bytes_.begin(), bytes_.end());
    result.busiest_unit = busiest - bytes_.begin();
    result.busiest_bytes = *busiest;
    result.mean_bytes =
        std::accumulate(bytes_.begin(), bytes_.end(), 0.0) / static_cast<double>(bytes_.size());
    return result;
  }

 private:
  std::string name_;
  std::vector<double> bytes_;
};

/// Ranks of one of the units that level `level` joins.
std::int64_t lower_size(const Cluster& cluster, std::size_t level) {
  return level == 0 ? 1 : cluster.levels[level - 1].size;
}

class Network {
 public:
  Network(const Cluster& cluster, std::int64_t ranks)
      : cluster_(cluster),
        node_levels_(static_cast<std::size_t>(levels_in_node(cluster))),
        nics_("nic", cluster.nic_of_device.empty() ? 0 : nodes(ranks) * cluster.nics_per_node) {
    for (std::size_t i = 0; i < cluster.levels.size(); ++i) {
      const std::int64_t lower = lower_size(cluster, i);
      levels_.emplace_back(cluster.levels[i].name, (ranks + lower - 1) / lower);
    }
  }

  void add(std::int64_t from, const Edge& edge) {
    const std::int64_t devices = cluster_.devices_per_node;
    const bool leaves_node = from / devices != edge.to / devices;
    const std::size_t first = leaves_node ? node_levels_ : 0;
    const std::size_t end = leaves_node ? levels_.size() : node_levels_;
    for (std::size_t i = first; i < end; ++i) {
      const std::int64_t lower = lower_size(cluster_, i);
      if (from / lower != edge.to / lower) levels_[i].add(from / lower, edge.bytes);
    }
    if (!leaves_node || cluster_.nic_of_device.empty()) return;
    const std::int64_t nic = cluster_.nic_of_device[static_cast<std::size_t>(from % devices)];
    nics_.add(from / devices * cluster_.nics_per_node + nic, edge.bytes);
  }

  [[nodiscard]] LinkLoads loads() const {
    LinkLoads result;
    for (const Units& units : levels_) result.levels.push_back(units.load());
    result.nics = nics_.load();
    return result;
  }

 private:
  [[nodiscard]] std::int64_t nodes(std::int64_t ranks) const {
    return (ranks + cluster_.devices_per_node - 1) / cluster_.devices_per_node;
  }

  const Cluster& cluster_;
  std::size_t node_levels_;
  std::vector<Units> levels_;
  Units nics_;
};

}  // namespace

LinkLoads link_loads(const TrafficMatrix& matrix, const Cluster& cluster) {
  Network network(cluster, matrix.ranks());
  for (std::int64_t from = 0; from < matrix.ranks(); ++from) {
    for (const Edge& edge : matrix.row(from)) network.add(from, edge);
  }
  return network.loads();
}

}  // namespace stepwright
