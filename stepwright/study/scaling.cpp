#include "stepwright/study/scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "stepwright/collective/in_network.h"
#include "stepwright/collective/play.h"
#include "stepwright/core/error.h"
#include "stepwright/core/parallel.h"

namespace stepwright::study {
namespace {

/// The algorithm with which others are compared.
constexpr collective::CollectiveAlgorithm kStudied = collective::CollectiveAlgorithm::kHoRing;

/// Returns how many levels from `begin` to `end` carry traffic between devices of the cluster.
std::int64_t carrying(const cluster::Cluster& cluster, std::size_t begin, std::size_t end) {
  std::int64_t count = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const std::int64_t lower = i == 0 ? 1 : cluster.levels[i - 1].size;
    if (lower < std::min(cluster.devices(), cluster.levels[i].size)) ++count;
  }
  return count;
}

void check_covered(const cluster::Cluster& cluster) {
  if (cluster.devices() > kMostScaledRanks) {
    fail_input(fmt::format("{} nodes of {} have {} devices, at most {}", cluster.nodes,
                           cluster.name, cluster.devices(), kMostScaledRanks));
  }
  const auto node_levels = static_cast<std::size_t>(collective::intra_node_level_count(cluster));
  const std::int64_t inside = carrying(cluster, 0, node_levels);
  const std::int64_t network = carrying(cluster, node_levels, cluster.levels.size());
  if (std::ranges::any_of(cluster.levels, &cluster::NetworkLevel::mesh)) {
    fail_unsupported(
        fmt::format("{}: nodes link their devices without a switch; `study collectives` needs "
                    "nodes with a switch",
                    cluster.name));
  }
  if (inside > 1 || network > 1) {
    fail_unsupported(
        fmt::format("{}: has {} levels of links inside a node and {} between {} nodes; `study "
                    "collectives` needs one level of each",
                    cluster.name, inside, network, cluster.nodes));
  }
}

void add_rivals(CollectiveScalingPoint& point, const collective::GroupLinkRates& links) {
  point.least =
      collective::collective_time_lower_bounds(point.collective, links, point.payload_bytes);
  if (point.collective != collective::CollectiveOperation::kAllReduce) return;
  point.adding_network_s = collective::in_network_all_reduce_seconds(
      cluster::InNetworkReductionSupport::kBetweenNodes, links, point.payload_bytes);
  point.adding_switches_s = collective::in_network_all_reduce_seconds(
      cluster::InNetworkReductionSupport::kEverywhere, links, point.payload_bytes);
}

bool is_asked(collective::CollectiveAlgorithm method, const CollectiveScalingSettings& setting) {
  return setting.methods.empty() ||
         std::ranges::find(setting.methods, method) != setting.methods.end();
}

collective::GroupLinkRates links_of(const cluster::Cluster& cluster,
                                    const CollectiveScalingSettings& setting) {
  collective::GroupLinkRates links = collective::process_group_link_rates(
      cluster, static_cast<std::int32_t>(cluster.devices_per_node),
      static_cast<std::int32_t>(cluster.nodes));
  links.message_s = setting.message_s;
  return links;
}

/// Computes a point whose operation and payload are set.
void fill(CollectiveScalingPoint& point, const cluster::Cluster& cluster,
          const CollectiveScalingSettings& setting) {
  point.nodes = cluster.nodes;
  point.ranks = cluster.devices();
  point.played = point.ranks <= setting.play_ranks;
  const collective::GroupLinkRates links = links_of(cluster, setting);
  for (const auto& [method, name] : collective::kGeneratedCollectiveAlgorithmNames) {
    collective::CollectiveScheduleSpec spec{method, point.collective, {links.members, links.nodes}};
    if (collective::reason_no_collective_schedule_exists(spec) || !is_asked(method, setting))
      continue;
    spec = collective::with_fastest_chunk_count(spec, links, point.payload_bytes);
    CollectiveScheduleTime time{
        method,
        spec.chunks,
        collective::closed_form_collective_seconds(spec, links, point.payload_bytes),
        {}};
    if (point.played) {
      time.played_s =
          collective::simulate_generated_collective(spec, cluster,
                                                    {.payload_bytes = point.payload_bytes,
                                                     .message_s = setting.message_s,
                                                     .every_rank = setting.every_rank});
    }
    point.schedules.push_back(time);
  }
  add_rivals(point, links);
}

int thread_count(int asked) {
  return asked > 0 ? asked : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

}  // namespace

std::optional<double> CollectiveScalingPoint::collective_seconds_by_algorithm(
    collective::CollectiveAlgorithm method) const {
  const auto found = std::ranges::find(schedules, method, &CollectiveScheduleTime::method);
  if (found == schedules.end()) return std::nullopt;
  return found->seconds();
}

const CollectiveScheduleTime* CollectiveScalingPoint::fastest_other_than_ho_ring() const {
  const CollectiveScheduleTime* fastest = nullptr;
  for (const CollectiveScheduleTime& time : schedules) {
    if (time.method == kStudied) continue;
    if (fastest == nullptr || time.seconds() < fastest->seconds()) fastest = &time;
  }
  return fastest;
}

std::optional<double> CollectiveScalingPoint::ho_ring_speedup() const {
  const auto own = collective_seconds_by_algorithm(kStudied);
  const CollectiveScheduleTime* other = fastest_other_than_ho_ring();
  if (!own || *own <= 0 || other == nullptr) return std::nullopt;
  return other->seconds() / *own;
}

std::map<collective::CollectiveAlgorithm, double> CollectiveScalingStudy::closed_form_differences()
    const {
  std::map<collective::CollectiveAlgorithm, double> largest;
  for (const CollectiveScalingPoint& point : points) {
    for (const CollectiveScheduleTime& time : point.schedules) {
      if (!time.played_s) continue;
      double& difference = largest[time.method];
      if (*time.played_s <= 0) continue;
      difference = std::max(difference, std::abs(time.closed_s / *time.played_s - 1));
    }
  }
  return largest;
}

CollectiveScalingStudy study_collective_scaling(const CollectiveScalingSettings& setting) {
  for (const cluster::Cluster& cluster : setting.clusters) check_covered(cluster);
  CollectiveScalingStudy study;
  std::vector<const cluster::Cluster*> clusters;
  for (const collective::CollectiveOperation collective : setting.collectives) {
    for (const double payload : setting.payloads_bytes) {
      for (const cluster::Cluster& cluster : setting.clusters) {
        study.points.push_back({.collective = collective, .payload_bytes = payload});
        clusters.push_back(&cluster);
        if (cluster.nodes >= study.cluster.nodes) study.cluster = cluster;
      }
    }
  }
  study.links = links_of(study.cluster, setting);
  parallel_for(thread_count(setting.threads), study.points.size(),
               [&](std::size_t i) { fill(study.points[i], *clusters[i], setting); });
  return study;
}

}  // namespace stepwright::study
