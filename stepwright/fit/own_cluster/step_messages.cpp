#include "stepwright/fit/own_cluster/step_messages.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "stepwright/logs/logged_collective.h"
#include "stepwright/plan/grid.h"

namespace stepwright::fit {
namespace {

/// A timed call of the log, matched to a group of the plan.
struct GroupedCall {
  logs::LoggedCall record;
  collective::CollectiveOperation operation{};
  plan::CommunicatorKind group{};
  double shortest_s = 0;  ///< Shortest seconds of the call over all ranks.
};

class GroupedCalls {
 public:
  GroupedCalls(const step::StepProgram& program, const plan::RankGrid& grid,
               const logs::CommunicationLog& log)
      : program_(program), grid_(grid), log_(log) {
    for (const logs::LoggedCall& record : log.records) add(record);
    for (const auto& [key, places] : same_) {
      const auto shorter = [this](std::size_t a, std::size_t b) {
        return calls_[a].record.duration_s < calls_[b].record.duration_s;
      };
      const double least = calls_[*std::ranges::min_element(places, shorter)].record.duration_s;
      for (const std::size_t place : places) calls_[place].shortest_s = least;
    }
  }

  [[nodiscard]] const std::vector<GroupedCall>& all() const { return calls_; }

 private:
  void add(const logs::LoggedCall& record) {
    const auto operation = logs::collective_of_logged_operation(record.operation);
    if (!operation || !(record.duration_s > 0) || record.payload_bytes <= 0) return;
    const auto group = group_of(log_.group_size(record));
    if (!group) return;
    const std::int64_t rank = record.rank == logs::kUnknown ? record.source : record.rank;
    const std::int64_t number = next_[{rank, *group, *operation, record.payload_bytes}]++;
    std::vector<std::int64_t> members = {rank};  // a message has two ends, each with its own time
    if (*operation != collective::CollectiveOperation::kPointToPoint)
      members = grid_.group_ranks_containing(*group, rank);
    same_[{std::move(members), *operation, record.payload_bytes, number}].push_back(calls_.size());
    calls_.push_back({record, *operation, *group, record.duration_s});
  }

  /// Returns the first kind of group with `size` ranks; 0: with any number.
  [[nodiscard]] std::optional<plan::CommunicatorKind> group_of(std::int64_t size) const {
    for (const auto& [kind, name] : plan::kGroupNames) {
      const std::int64_t ours = program_.group_sizes[static_cast<std::size_t>(kind)];
      if (ours >= 2 && (size == 0 || size == ours)) return kind;
    }
    return std::nullopt;
  }

  const step::StepProgram& program_;
  const plan::RankGrid& grid_;
  const logs::CommunicationLog& log_;
  std::vector<GroupedCall> calls_;
  std::map<std::tuple<std::int64_t, plan::CommunicatorKind, collective::CollectiveOperation,
                      std::int64_t>,
           std::int64_t>
      next_;
  std::map<std::tuple<std::vector<std::int64_t>, collective::CollectiveOperation, std::int64_t,
                      std::int64_t>,
           std::vector<std::size_t>>
      same_;
};

}  // namespace

std::vector<StepMessageCalls> logged_calls_of_plan_messages(
    const plan::PlannedJob& planned, const step::StepProgram& program,
    const logs::CommunicationLog& log, double steps,
    const std::function<bool(const logs::LoggedCall&)>& is_chosen) {
  const cluster::Cluster& cluster = planned.job.cluster;
  const std::int64_t devices = std::min(cluster.devices_per_node, cluster.devices());
  const plan::RankGrid grid(planned.plan);
  std::map<std::pair<collective::CollectiveOperation, std::int64_t>, StepMessageCalls> sums;
  const GroupedCalls calls(program, grid, log);
  for (const GroupedCall& call : calls.all()) {
    if (!is_chosen(call.record)) continue;
    const auto [place, fresh] = sums.try_emplace({call.operation, call.record.payload_bytes});
    StepMessageCalls& sum = place->second;
    if (fresh) {
      sum.sample = {
          .operation = call.operation,
          .group = cost::group_node_placement(
              plan::rank_group_network_layout(cluster, grid.communicator_shape(call.group)),
              collective::intra_node_level_count(cluster), devices),
          .payload_bytes = static_cast<double>(call.record.payload_bytes)};
    }
    ++sum.calls;
    sum.sample.seconds += call.shortest_s;
    sum.waiting_s += call.record.duration_s - call.shortest_s;
  }
  std::vector<StepMessageCalls> messages;
  for (auto& [key, sum] : sums) {
    sum.sample.seconds /= sum.calls;
    sum.waiting_s /= sum.calls;
    sum.calls /= steps;
    messages.push_back(std::move(sum));
  }
  return messages;
}

}  // namespace stepwright::fit
