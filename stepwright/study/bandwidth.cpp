#include <fmt/format.h>

#include <algorithm>

#include "stepwright/core/format.h"
#include "stepwright/core/named.h"
#include "stepwright/cost/cost_model.h"
#include "stepwright/plan/files.h"
#include "stepwright/study/study.h"

namespace stepwright::study {
namespace {

constexpr std::int64_t kLargestMessage = std::int64_t{16} << 30;
constexpr double kLargeMessage = 256.0 * 1024 * 1024;
constexpr step::OperatorKind kOperations[] = {
    step::OperatorKind::kAllReduce, step::OperatorKind::kAllGather,
    step::OperatorKind::kReduceScatter, step::OperatorKind::kAllToAll, step::OperatorKind::kSend};

std::string ratio(double value) { return fmt::format("{:g}x", value); }

/// Returns busbw: the bytes that each rank sends, divided by the time.
double bus_bandwidth(const cost::CostModel& cost, step::OperatorKind kind, double bytes,
                     const cluster::GroupLayout& layout) {
  const double seconds =
      cost.message_time(kind, bytes, layout, collective::CollectiveAlgorithm::kLibrary,
                        step::ParallelismScheme::kNone)
          .seconds;
  return seconds > 0 ? collective::bytes_sent_by_each_rank(step::collective_of_operator(kind),
                                                           bytes, layout.size) /
                           seconds
                     : 0;
}

KeyedStudyChart over_sizes(const std::string& key, const std::string& title,
                           const cost::CostModel& cost, const cluster::GroupLayout& layout) {
  std::vector<ChartSeries> curves;
  for (const step::OperatorKind kind : kOperations) {
    ChartSeries curve{.name = std::string(name_of(step::kOperatorNames, kind)), .points = {}};
    for (std::int64_t size = 1024; size <= kLargestMessage; size *= 4) {
      const auto bytes = static_cast<double>(size);
      curve.points.push_back({bytes, bus_bandwidth(cost, kind, bytes, layout)});
    }
    curves.push_back(std::move(curve));
  }
  return {key,
          {.title = title,
           .x = {.title = "message", .label = format_bytes},
           .y = {.title = "busbw", .label = format_bytes_per_s},
           .series = std::move(curves)}};
}

/// Returns the curve of all-reduces of a large message over 2, 4, 8, ... ranks that are `stride`
/// apart.
ChartSeries placed(const cluster::Cluster& cluster, const cost::CostModel& cost,
                   std::int64_t stride) {
  ChartSeries curve{.name = stride == 1 ? "neighbours" : fmt::format("{} apart", stride),
                    .points = {}};
  for (std::int64_t size = 2; size * stride <= cluster.devices(); size *= 2) {
    const cluster::GroupLayout layout =
        cluster::network_layout_of_strided_group(cluster, size, stride);
    curve.points.push_back(
        {static_cast<double>(size),
         bus_bandwidth(cost, step::OperatorKind::kAllReduce, kLargeMessage, layout)});
  }
  return curve;
}

KeyedStudyChart over_placement(const cluster::Cluster& cluster, const cost::CostModel& cost) {
  std::vector<ChartSeries> curves;
  for (std::int64_t stride = 1; stride <= cluster.devices_per_node; stride *= 2) {
    ChartSeries curve = placed(cluster, cost, stride);
    if (!curve.points.empty()) curves.push_back(std::move(curve));
  }
  return {"placement",
          {.title = "Bus bandwidth of an all-reduce of 256 MiB, by ranks and their distance",
           .x = {.title = "ranks", .label = format_whole_number},
           .y = {.title = "busbw", .label = format_bytes_per_s},
           .series = std::move(curves)}};
}

/// Returns a chart for groups with one rank per node; x is the number of groups that run at once.
KeyedStudyChart over_sharing(const cluster::Cluster& cluster, const cost::CostModel& cost) {
  const cluster::GroupLayout alone =
      cluster::network_layout_of_strided_group(cluster, cluster.nodes, cluster.devices_per_node);
  std::vector<ChartSeries> curves;
  for (const step::OperatorKind kind : kOperations) {
    ChartSeries curve{.name = std::string(name_of(step::kOperatorNames, kind)), .points = {}};
    for (std::int64_t groups = 1; groups <= cluster.devices_per_node; groups *= 2) {
      cluster::GroupLayout shared = alone;
      for (int i = collective::intra_node_level_count(cluster); i <= alone.span; ++i) {
        shared.sharers[static_cast<std::size_t>(i)] = groups;
      }
      curve.points.push_back(
          {static_cast<double>(groups), bus_bandwidth(cost, kind, kLargeMessage, shared)});
    }
    curves.push_back(std::move(curve));
  }
  return {"sharing",
          {.title = "Bus bandwidth between nodes at 256 MiB, by groups that share the NICs",
           .x = {.title = "groups of each node at once", .label = format_whole_number},
           .y = {.title = "busbw", .label = format_bytes_per_s},
           .series = std::move(curves)}};
}

/// Returns variants of the plan with NICs of a quarter to four times their rate.
std::vector<ChartedPlanVariant> nic_rates(const plan::PlannedJob& planned) {
  std::vector<ChartedPlanVariant> variations;
  for (const double factor : {0.25, 0.5, 1.0, 2.0, 4.0}) {
    variations.push_back(
        {factor, plan::plan_with_field(planned, fmt::format("cluster.nic={}x", factor))});
  }
  return variations;
}

}  // namespace

StudyCharts study_collective_bandwidth(const plan::PlannedJob& planned) {
  const cluster::Cluster& cluster = planned.job.cluster;
  const cost::CostModel cost(planned.job);
  StudyCharts study{.variable = "bandwidth", .planned = planned, .panels = {}};
  if (cluster.devices_per_node > 1) {
    study.panels.push_back(
        over_sizes("inside", "Bus bandwidth inside a node, by message size", cost,
                   cluster::network_layout_of_strided_group(cluster, cluster.devices_per_node, 1)));
  }
  if (cluster.nodes > 1) {
    study.panels.push_back(
        over_sizes("network", "Bus bandwidth over the whole cluster, by message size", cost,
                   cluster::network_layout_of_strided_group(cluster, cluster.devices(), 1)));
    study.panels.push_back(over_sharing(cluster, cost));
  }
  study.panels.push_back(over_placement(cluster, cost));
  if (cluster.nodes > 1) {
    const ChartAxis rate{.title = "rate of a NIC", .label = ratio};
    study.panels.push_back(
        exposed_communication_chart("exposed_over_nic", rate, nic_rates(planned)));
  }
  return study;
}

}  // namespace stepwright::study
