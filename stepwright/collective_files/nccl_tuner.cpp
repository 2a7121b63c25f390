#include "stepwright/collective_files/nccl_tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

#include "stepwright/collective/definition.h"
#include "stepwright/core/named.h"
#include "stepwright/core/quoting.h"
#include "stepwright/core/utf8.h"
#include "stepwright/cost/cost_model.h"
#include "stepwright/plan/grid.h"

namespace stepwright::collective_files {
namespace {

constexpr Named<collective::CollectiveOperation> kTunedCollectives[] = {
    {collective::CollectiveOperation::kAllReduce, "allreduce"},
    {collective::CollectiveOperation::kAllGather, "allgather"},
    {collective::CollectiveOperation::kReduceScatter, "reducescatter"}};
constexpr Named<cost::CollectiveProtocol> kTunerProtocols[] = {
    {cost::CollectiveProtocol::kLowLatency, "ll"},
    {cost::CollectiveProtocol::kLowLatency128, "ll128"},
    {cost::CollectiveProtocol::kFull, "simple"}};

std::string_view algorithm_word(collective::CollectiveAlgorithm algorithm, std::int64_t nodes) {
  const collective::NcclAlgorithmNames& names = collective::definition_of(algorithm).nccl;
  return nodes > 1 ? names.several_nodes : names.one_node;
}

/// One algorithm and protocol: its squared seconds are constant + linear bytes + quadratic bytes^2.
struct Choice {
  collective::CollectiveAlgorithm algorithm{};
  cost::CollectiveProtocol protocol{};
  double constant = 0;
  double linear = 0;
  double quadratic = 0;

  [[nodiscard]] double squared(double bytes) const {
    return constant + bytes * (linear + bytes * quadratic);
  }
};

std::vector<Choice> choices(const cost::MessageCostModel& cost,
                            collective::CollectiveOperation collective,
                            const cluster::GroupLayout& layout) {
  const cost::CollectiveOperationConstants& constants = cost.constants().of(collective);
  const cost::MessageRouteTimes routes_of_a_byte =
      cost.link_line_rates().message_times_by_route({collective, 1, layout});
  std::vector<Choice> list;
  for (const collective::CollectiveAlgorithm algorithm : cost::kCollectiveLibraryAlgorithms) {
    for (const auto& [protocol, name] : kTunerProtocols) {
      const auto times =
          cost::message_start_and_transfer_times(routes_of_a_byte, constants, algorithm, protocol);
      if (!times) continue;
      list.push_back({.algorithm = algorithm,
                      .protocol = protocol,
                      .constant = times->wait_s * times->wait_s,
                      .linear = 2 * constants.fill * times->wait_s * times->move_s,
                      .quadratic = times->move_s * times->move_s});
    }
  }
  return list;
}

/// Adds the whole numbers around a crossing, one of which is the first size after it.
void add_about(double bytes, std::set<std::uint64_t>& sizes) {
  constexpr double kBeyond = 1e18;
  if (!(bytes >= 0 && bytes < kBeyond)) return;
  const auto near = static_cast<std::uint64_t>(bytes);
  for (std::uint64_t size = near == 0 ? 0 : near - 1; size <= near + 2; ++size) sizes.insert(size);
}

void add_crossings(const Choice& one, const Choice& other, std::set<std::uint64_t>& sizes) {
  const double a = one.quadratic - other.quadratic;
  const double b = one.linear - other.linear;
  const double c = one.constant - other.constant;
  const double root = b * b - 4 * a * c;
  if (root < 0) return;
  // Each root has two formulas; this code uses the one without cancellation.
  const double q = -(b + std::copysign(std::sqrt(root), b)) / 2;
  if (a != 0) add_about(q / a, sizes);
  if (q != 0) add_about(c / q, sizes);
}

const Choice& cheapest(const std::vector<Choice>& list, std::uint64_t size) {
  const auto bytes = static_cast<double>(size);
  return *std::min_element(list.begin(), list.end(), [&](const Choice& a, const Choice& b) {
    return a.squared(bytes) < b.squared(bytes);
  });
}

/// Returns a text as a comment. A user's name must not end the comment, and the plugin cuts lines
/// at 255 characters and would read the rest as data.
std::string short_comment(std::string_view text) {
  constexpr std::size_t kLongest = 157;
  return as_comment_line(
      one_line_printable_text(one_line_printable_text(text, std::string_view::npos), kLongest));
}

TunerCommunicatorKind group_of(const cluster::Cluster& cluster, const cluster::GroupLayout& layout,
                               std::string name) {
  return {
      .nodes = collective::group_node_count(layout, collective::intra_node_level_count(cluster)),
      .ranks = layout.size,
      .layout = layout,
      .name = std::move(name)};
}

void add_group(std::vector<TunerCommunicatorKind>& groups, TunerCommunicatorKind group) {
  if (group.ranks < 2) return;
  const auto known =
      std::find_if(groups.begin(), groups.end(), [&](const TunerCommunicatorKind& other) {
        return other.nodes == group.nodes && other.ranks == group.ranks;
      });
  if (known == groups.end()) {
    groups.push_back(std::move(group));
    return;
  }
  std::string& names = known->layout == group.layout ? known->name : known->others;
  names += (names.empty() ? "" : ", ") + group.name;
}

}  // namespace

std::vector<TunerCommunicatorKind> cluster_tuner_communicators(const cluster::Cluster& cluster) {
  std::vector<TunerCommunicatorKind> groups;
  for (std::int64_t nodes = 1; nodes > 0;) {
    const cluster::GroupLayout layout =
        cluster::network_layout_of_strided_group(cluster, nodes * cluster.devices_per_node, 1);
    add_group(groups, group_of(cluster, layout, "whole nodes"));
    nodes = nodes == cluster.nodes ? 0 : std::min(2 * nodes, cluster.nodes);
  }
  return groups;
}

std::vector<TunerCommunicatorKind> plan_tuner_communicators(const plan::PlannedJob& planned) {
  const cluster::Cluster& cluster = planned.job.cluster;
  const auto layouts = cost::rank_group_network_layouts(cluster, plan::RankGrid(planned.plan));
  std::vector<TunerCommunicatorKind> groups;
  for (const auto& [kind, name] : plan::kGroupNames) {
    if (kind == plan::CommunicatorKind::kNone || kind == plan::CommunicatorKind::kPipeline)
      continue;
    if (plan::is_expert_communicator(kind) && !planned.job.model.experts) continue;
    const cluster::GroupLayout& layout = layouts[static_cast<std::size_t>(kind)];
    add_group(groups, group_of(cluster, layout, std::string(name)));
  }
  return groups;
}

std::vector<TunerMessageSizeRange> tuner_message_size_ranges(
    const cost::MessageCostModel& cost, collective::CollectiveOperation collective,
    const cluster::GroupLayout& layout) {
  const std::vector<Choice> list = choices(cost, collective, layout);
  std::set<std::uint64_t> sizes = {0};
  for (std::size_t i = 0; i < list.size(); ++i) {
    for (std::size_t j = i + 1; j < list.size(); ++j) add_crossings(list[i], list[j], sizes);
  }
  std::vector<TunerMessageSizeRange> ranges;
  for (const std::uint64_t size : sizes) {
    const Choice& best = cheapest(list, size);
    if (!ranges.empty()) {
      if (ranges.back().algorithm == best.algorithm && ranges.back().protocol == best.protocol)
        continue;
      ranges.back().max_bytes = size - 1;
    }
    ranges.push_back({.min_bytes = size, .algorithm = best.algorithm, .protocol = best.protocol});
  }
  return ranges;
}

std::string nccl_tuner_csv(const cost::MessageCostModel& cost,
                           const std::vector<TunerCommunicatorKind>& groups,
                           const NcclTunerFileOptions& setting) {
  std::string text =
      fmt::format("{}\n{}\n", short_comment(setting.about),
                  short_comment("cost model: " + cost.profile_name().value_or("unfitted")));
  text +=
      "# collective_type,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks\n"
      "# broadcast and reduce have no price in the model: no lines\n";
  if (setting.channels == -1) {
    text += "# channels -1 is NCCL's choice; NVIDIA's example plugin up to NCCL 2.30 makes it 1\n";
  }
  for (const TunerCommunicatorKind& group : groups) {
    const std::string head =
        fmt::format("nodes: {}, ranks: {}: {}", group.nodes, group.ranks, group.name);
    text += fmt::format("\n{}\n", short_comment(head));
    if (!group.others.empty()) {
      text += short_comment("not for others of these numbers: " + group.others) + "\n";
    }
    for (const auto& [collective, word] : kTunedCollectives) {
      for (const TunerMessageSizeRange& range :
           tuner_message_size_ranges(cost, collective, group.layout)) {
        text += fmt::format("{},{},{},{},{},{},{},{}\n", word, range.min_bytes, range.max_bytes,
                            algorithm_word(range.algorithm, group.nodes),
                            name_of(kTunerProtocols, range.protocol), setting.channels, group.nodes,
                            group.ranks);
      }
    }
  }
  return text;
}

}  // namespace stepwright::collective_files
