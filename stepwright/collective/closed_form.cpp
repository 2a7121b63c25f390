#include "stepwright/collective/closed_form.h"

#include <algorithm>
#include <vector>

#include "stepwright/collective/definition.h"
#include "stepwright/collective/wire.h"

namespace stepwright::collective {
namespace {

/// Relative difference below which two times count as equal, so that fewer chunks are preferred.
constexpr double kSameTime = 1e-9;

}  // namespace

double chain_seconds_of_pipelined_chunks(double stages, double chunks,
                                         const MessageChunkSendCost& hop) {
  if (stages <= 0) return 0;
  if (chunks * hop.bytes_s >= hop.bytes_s + hop.latency_s) {
    return stages * chunks * hop.bytes_s + hop.latency_s;
  }
  return stages * (hop.bytes_s + hop.latency_s) + (chunks - 1) * hop.bytes_s;
}

double intra_node_exchange_s(const CollectiveClosedFormTerms& t, IntraGroupPattern inner) {
  if (t.members == 1) return 0;
  const double bytes_s = (t.members - 1) * t.inside.bytes_s;
  return inner == IntraGroupPattern::kDirect ? bytes_s
                                             : bytes_s + (t.members - 2) * t.inside.latency_s;
}

IntraGroupPattern intra_node_pattern(const cluster::Cluster& cluster) {
  const bool one_switch = intra_node_level_count(cluster) == 1 && !cluster.levels.front().mesh;
  return one_switch ? IntraGroupPattern::kDirect : IntraGroupPattern::kRing;
}

GroupLinkRates process_group_link_rates(const cluster::Cluster& cluster, std::int32_t members,
                                        std::int32_t nodes) {
  GroupLinkRates links{
      .members = members, .nodes = nodes, .message_s = kDefaultMessageStartSeconds};
  const auto node_levels = static_cast<std::size_t>(intra_node_level_count(cluster));
  for (std::size_t i = 0; i < node_levels; ++i) {
    const cluster::NetworkLevel& level = cluster.levels[i];
    const std::int64_t lower = i == 0 ? 1 : cluster.levels[i - 1].size;
    if (lower >= members || level.uplink_bytes_per_s <= 0) continue;
    links.inside_s_per_byte = std::max(links.inside_s_per_byte, 1 / level.uplink_bytes_per_s);
    links.inside_latency_s = level.latency_s;
  }
  if (nodes == 1) return links;
  std::vector<double> on_nic(
      static_cast<std::size_t>(std::max<std::int64_t>(1, cluster.nics_per_node)));
  for (std::int32_t i = 0; i < members && i < std::ssize(cluster.nic_of_device); ++i) {
    on_nic[static_cast<std::size_t>(cluster.nic_of_device[static_cast<std::size_t>(i)])] += 1;
  }
  const std::int64_t own =
      std::max<std::int64_t>(1, cluster.nics_per_node / cluster.devices_per_node);
  const double nic = cluster.nic_bytes_per_s * static_cast<double>(own);
  links.lone_s_per_byte = nic > 0 ? 1 / nic : 0;
  links.rail_s_per_byte = links.lone_s_per_byte * *std::max_element(on_nic.begin(), on_nic.end());
  for (std::size_t i = node_levels; i < cluster.levels.size(); ++i) {
    const cluster::NetworkLevel& level = cluster.levels[i];
    const std::int64_t lower = i == 0 ? 1 : cluster.levels[i - 1].size;
    if (lower >= std::int64_t{cluster.devices_per_node} * nodes) continue;
    links.network_latency_s = level.latency_s;
    if (level.uplink_bytes_per_s <= 0) continue;
    const double below =
        static_cast<double>(std::max<std::int64_t>(1, lower / cluster.devices_per_node));
    links.lone_s_per_byte = std::max(links.lone_s_per_byte, 1 / level.uplink_bytes_per_s);
    links.rail_s_per_byte =
        std::max(links.rail_s_per_byte, members * below / level.uplink_bytes_per_s);
  }
  return links;
}

double closed_form_collective_seconds(const CollectiveScheduleSpec& spec,
                                      const GroupLinkRates& links, double payload_bytes) {
  const CollectiveClosedFormTerms terms(spec, links, payload_bytes);
  if (terms.ranks == 1) return 0;
  return definition_of(spec.method).seconds(terms);
}

CollectiveScheduleSpec with_fastest_chunk_count(CollectiveScheduleSpec spec,
                                                const GroupLinkRates& links, double payload_bytes) {
  CollectiveScheduleSpec best = spec;
  best.chunks = 1;
  double least = closed_form_collective_seconds(best, links, payload_bytes);
  for (std::int32_t chunks = 2; chunks <= kMaxTriedChunksPerBlock; chunks *= 2) {
    spec.chunks = chunks;
    if (reason_no_collective_schedule_exists(spec)) break;
    const double seconds = closed_form_collective_seconds(spec, links, payload_bytes);
    if (seconds >= least * (1 - kSameTime)) continue;
    least = seconds;
    best = spec;
  }
  return best;
}

CollectiveScheduleSpec fastest_collective_schedule(CollectiveOperation collective,
                                                   const GroupLinkRates& links,
                                                   double payload_bytes) {
  CollectiveScheduleSpec best{CollectiveAlgorithm::kRing, collective, {links.members, links.nodes}};
  double least = -1;
  for (const auto& [method, name] : kGeneratedCollectiveAlgorithmNames) {
    const CollectiveScheduleSpec spec{method, collective, {links.members, links.nodes}};
    if (reason_no_collective_schedule_exists(spec)) continue;
    const CollectiveScheduleSpec chunked = with_fastest_chunk_count(spec, links, payload_bytes);
    const double seconds = closed_form_collective_seconds(chunked, links, payload_bytes);
    if (least >= 0 && seconds >= least) continue;
    least = seconds;
    best = chunked;
  }
  return best;
}

}  // namespace stepwright::collective
