#include "stepwright/cli/scaling_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "stepwright/core/format.h"
#include "stepwright/core/table.h"
#include "stepwright/cost/laws/collective_constants.h"

namespace stepwright::cli {
namespace {

/// The points of one operation and payload.
using ScalingRows = std::span<const study::CollectiveScalingPoint>;

std::string seconds_text(const std::optional<double>& seconds) {
  return seconds ? format_time(*seconds) : "";
}

std::string gain_text(const std::optional<double>& gain) {
  if (!gain) return {};
  return *gain < 0.1 ? fmt::format("{:.3f}", *gain) : fmt::format("{:.2f}", *gain);
}

/// Returns the algorithms for which at least one point has a schedule.
std::vector<collective::CollectiveAlgorithm> methods_of(ScalingRows points) {
  std::vector<collective::CollectiveAlgorithm> methods;
  for (const auto& [method, name] : collective::kGeneratedCollectiveAlgorithmNames) {
    const auto has = [&](const study::CollectiveScalingPoint& point) {
      return point.collective_seconds_by_algorithm(method).has_value();
    };
    if (std::ranges::any_of(points, has)) methods.push_back(method);
  }
  return methods;
}

TextTable table_of(ScalingRows points) {
  const std::vector<collective::CollectiveAlgorithm> methods = methods_of(points);
  const bool reduces = points.front().adding_network_s.has_value();
  TextTable table{
      .columns = {{"nodes", ColumnAlignment::kRight}, {"GPUs", ColumnAlignment::kRight}},
      .rows = {}};
  const auto add_column = [&](std::string_view name) {
    table.columns.push_back({std::string(name), ColumnAlignment::kRight});
  };
  for (const collective::CollectiveAlgorithm method : methods)
    add_column(name_of(collective::kCollectiveAlgorithmNames, method));
  add_column("lower bound");
  if (reduces) add_column("network adds");
  if (reduces) add_column("switches add");
  add_column("ho-ring gain");
  table.columns.push_back({"from"});
  for (const study::CollectiveScalingPoint& point : points) {
    std::vector<std::string> row{format_count(point.nodes), format_count(point.ranks)};
    for (const collective::CollectiveAlgorithm method : methods)
      row.push_back(seconds_text(point.collective_seconds_by_algorithm(method)));
    row.push_back(format_time(point.least.any_s));
    if (reduces) row.push_back(seconds_text(point.adding_network_s));
    if (reduces) row.push_back(seconds_text(point.adding_switches_s));
    row.push_back(gain_text(point.ho_ring_speedup()));
    row.emplace_back(point.played ? "simulation" : "closed form");
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string head_text(const study::CollectiveScalingStudy& study) {
  const cluster::Cluster& cluster = study.cluster;
  const collective::GroupLinkRates& links = study.links;
  std::string text = fmt::format("{}: {} GPUs per node", cluster.name, cluster.devices_per_node);
  if (links.inside_s_per_byte > 0) {
    text += fmt::format(", {} inside a node", format_bytes_per_s(1 / links.inside_s_per_byte));
  }
  if (cluster.nic_bytes_per_s > 0) {
    text += fmt::format(", {} NICs of {}", cluster.nics_per_node,
                        format_bytes_per_s(cluster.nic_bytes_per_s));
  }
  return text + fmt::format("; latency of a message {}\n", format_time(links.message_s));
}

std::string differences_text(const study::CollectiveScalingStudy& study) {
  std::string text;
  for (const auto& [method, difference] : study.closed_form_differences()) {
    text += fmt::format("{}{} {:.2f}%", text.empty() ? "" : ", ",
                        name_of(collective::kCollectiveAlgorithmNames, method), 100 * difference);
  }
  if (text.empty()) return text;
  return "Closed forms differ from the simulation by at most " + text + ".\n";
}

}  // namespace

std::string collective_study_text(const study::CollectiveScalingStudy& study) {
  std::string text = head_text(study);
  const ScalingRows all(study.points);
  for (std::size_t begin = 0; begin < all.size();) {
    const study::CollectiveScalingPoint& first = all[begin];
    std::size_t count = 0;
    while (begin + count < all.size() && all[begin + count].collective == first.collective &&
           all[begin + count].payload_bytes == first.payload_bytes) {
      ++count;
    }
    text += fmt::format("\n{} of {}\n\n{}", name_of(cost::kCollectiveNames, first.collective),
                        format_bytes(first.payload_bytes),
                        format_text_table(table_of(all.subspan(begin, count))));
    begin += count;
  }
  text +=
      "\nlower bound: what the bytes take on the links at least, where ranks add.\n"
      "network adds, switches add: where switches between nodes, or all of them, add; an assumed "
      "model.\n"
      "ho-ring gain: the time of the fastest other schedule over that of ho-ring; above 1 ho-ring "
      "is faster.\n"
      "docs/collectives/scaling.md explains them.\n";
  return text + differences_text(study);
}

}  // namespace stepwright::cli
