#include "stepwright/diagnose/slow_messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "stepwright/collective/wire.h"
#include "stepwright/core/format.h"
#include "stepwright/cost/collective_cost.h"
#include "stepwright/diagnose/advice.h"
#include "stepwright/plan/grid.h"

namespace stepwright::diagnose {
namespace {

/// Smaller messages are not judged, because latency dominates them.
constexpr double kLeastJudgedBytes = 1024.0 * 1024;
/// Messages that reach less than this share of the law's bandwidth are reported as slow.
constexpr double kFarBelow = 0.5;
/// The most sizes that a finding lists, the largest first.
constexpr std::size_t kMostSizes = 6;

/// A measured message and the time that the law predicts for it.
struct JudgedMessage {
  const TimedMessage* message = nullptr;
  std::int64_t ranks = 0;
  double payload_bytes = 0;
  double expected_s = 0;

  /// Returns the measured bandwidth divided by the expected one.
  [[nodiscard]] double share() const { return expected_s / message->seconds; }
  [[nodiscard]] double bus_rate(double seconds) const {
    return collective::bytes_sent_by_each_rank(message->operation, payload_bytes, ranks) / seconds;
  }
};

std::string rate_text(double bytes_per_s) { return fmt::format("{:.3g} GB/s", bytes_per_s * 1e-9); }

/// Predicts times of messages on the network of a job.
class MessageLaw {
 public:
  explicit MessageLaw(const MessageClusterAndPlan& network)
      : cluster_(network.cluster), cost_(network.cluster) {
    if (!network.plan) return;
    const plan::RankGrid grid(*network.plan);
    for (int kind = 1; kind < plan::kGroupKinds; ++kind) {
      planned_.push_back(plan::rank_group_network_layout(
          cluster_, grid.communicator_shape(static_cast<plan::CommunicatorKind>(kind))));
    }
  }

  /// Compares a message with the law; nullopt: the cluster has no group of that size.
  [[nodiscard]] std::optional<JudgedMessage> judged(const TimedMessage& message) const {
    std::optional<JudgedMessage> slowest;
    for (const cluster::GroupLayout& layout : layouts(message)) {
      if (layout.span < 0) continue;
      const double payload = message.payload_bytes > 0
                                 ? message.payload_bytes
                                 : message.part_bytes * static_cast<double>(layout.size);
      const double seconds =
          cost_
              .priced_message_time(
                  {.collective = message.operation, .payload_bytes = payload, .layout = layout})
              .seconds;
      if (!slowest || seconds > slowest->expected_s) {
        slowest = {.message = &message,
                   .ranks = layout.size,
                   .payload_bytes = payload,
                   .expected_s = seconds};
      }
    }
    return slowest;
  }

 private:
  [[nodiscard]] std::vector<cluster::GroupLayout> layouts(const TimedMessage& message) const {
    if (message.nodes > 0) return alone(message.ranks, message.nodes);
    if (message.world > 0 && message.world != cluster_.devices()) return {};
    if (planned_.empty()) {
      const std::int64_t ranks = message.ranks > 0 ? message.ranks : cluster_.devices();
      if (ranks > cluster_.devices()) return {};
      return {
          cluster::network_layout_of_strided_group(cluster_, ranks, 1),
          cluster::network_layout_of_strided_group(cluster_, ranks, cluster_.devices() / ranks)};
    }
    std::vector<cluster::GroupLayout> fitting;
    std::ranges::copy_if(planned_, std::back_inserter(fitting), [&](const auto& layout) {
      return message.ranks == 0 || layout.size == message.ranks;
    });
    return fitting;
  }

  /// Returns the layout of a group that has equally many ranks on each of some nodes, with no other
  /// traffic.
  [[nodiscard]] std::vector<cluster::GroupLayout> alone(std::int64_t ranks,
                                                        std::int64_t nodes) const {
    const std::int64_t in_node = ranks / nodes;
    if (nodes > cluster_.nodes || in_node > cluster_.devices_per_node) return {};
    cluster::GroupLayout layout{.size = ranks, .levels = static_cast<int>(cluster_.levels.size())};
    std::int64_t lower = 1;
    for (int i = 0; i < layout.levels; ++i) {
      const std::int64_t unit = cluster_.levels[static_cast<std::size_t>(i)].size;
      const auto level = static_cast<std::size_t>(i);
      layout.members[level] = unit <= cluster_.devices_per_node ? std::min(in_node, unit) : ranks;
      if (lower < ranks) {
        layout.sharers[level] = 1;
        layout.span = i;
      }
      lower = layout.members[level];
    }
    return {layout};
  }

  const cluster::Cluster& cluster_;
  cost::MessageCostModel cost_;
  std::vector<cluster::GroupLayout> planned_;  ///< Layouts of the plan's groups.
};

std::string size_text(const JudgedMessage& one, const std::string& file) {
  return fmt::format("{}:{}: {} in {} ({}); by the law {} ({})", file, one.message->line,
                     format_bytes(one.payload_bytes), format_time(one.message->seconds),
                     rate_text(one.bus_rate(one.message->seconds)), format_time(one.expected_s),
                     rate_text(one.bus_rate(one.expected_s)));
}

FaultFinding message_finding(const std::vector<JudgedMessage>& sizes, const std::string& file,
                             const MessageClusterAndPlan& network,
                             std::span<const FaultFinding> links) {
  const JudgedMessage& largest = sizes.front();
  FaultFinding finding{
      .kind = DiagnosedFaultKind::kSlowLink,
      .where = {.file = file, .line = largest.message->line},
      .what = fmt::format(
          "{} of {} over {} ranks reaches {} of bus bandwidth, {} of the {} that {} gives by its "
          "law.",
          name_of(cost::kCollectiveNames, largest.message->operation),
          format_bytes(largest.payload_bytes), largest.ranks,
          rate_text(largest.bus_rate(largest.message->seconds)), format_percent(largest.share()),
          rate_text(largest.bus_rate(largest.expected_s)), network.cluster.name)};
  for (std::size_t i = 0; i < sizes.size() && i < kMostSizes; ++i)
    finding.evidence.push_back(size_text(sizes[i], file));
  if (largest.message->nodes == 0) {
    finding.evidence.push_back(
        fmt::format("The log does not state the ranks of groups: they are assumed to be {}",
                    network.plan                 ? "the slowest ones of the plan"
                    : largest.message->ranks > 0 ? "those that lie farthest apart"
                                                 : "all devices of the cluster"));
  }
  for (const FaultFinding& link : links) {
    if (link.kind != DiagnosedFaultKind::kSlowLink) continue;
    finding.causes.push_back(fmt::format("{} ({}:{})", link.what.substr(0, link.what.size() - 1),
                                         link.where.file, link.where.line));
  }
  // nccl-tests send nothing else; in a job, a call's time also contains the wait for the last rank.
  if (largest.message->nodes == 0) add_causes_and_remedies(finding, "slow.waiting");
  add_causes_and_remedies(finding, "slow.bandwidth");
  return finding;
}

}  // namespace

std::vector<FaultFinding> slow_message_findings(const MeasuredMessages& measured,
                                                const MessageClusterAndPlan& network,
                                                std::span<const FaultFinding> links) {
  const MessageLaw law(network);
  std::map<std::pair<collective::CollectiveOperation, std::int64_t>, std::vector<JudgedMessage>>
      groups;
  for (const TimedMessage& message : measured.messages) {
    const auto judged = law.judged(message);
    if (judged && judged->payload_bytes >= kLeastJudgedBytes && judged->expected_s > 0)
      groups[{message.operation, judged->ranks}].push_back(*judged);
  }
  std::vector<FaultFinding> findings;
  for (auto& [group, sizes] : groups) {
    const auto middle = sizes.begin() + std::ssize(sizes) / 2;
    std::ranges::nth_element(sizes, middle, {}, &JudgedMessage::share);
    if (middle->share() >= kFarBelow) continue;
    std::ranges::stable_sort(sizes, std::ranges::greater(), &JudgedMessage::payload_bytes);
    findings.push_back(message_finding(sizes, measured.file, network, links));
  }
  return findings;
}

}  // namespace stepwright::diagnose
