#include "stepwright/fit/own_cluster/step_messages.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "stepwright/plan/grid.h"

namespace stepwright {
namespace {

std::optional<Collective> collective_of(LogOperation operation) {
  switch (operation) {
    case LogOperation::kAllReduce: return Collective::kAllReduce;
    case LogOperation::kAllGather: return Collective::kAllGather;
    case LogOperation::kReduceScatter: return Collective::kReduceScatter;
    case LogOperation::kAllToAll: return Collective::kAllToAll;
    case LogOperation::kSend: return Collective::kPointToPoint;
    default: return std::nullopt;
  }
}

/// A timed call of the log in a group of the plan.
struct GroupedCall {
  LogRecord record;
  Collective operation{};
  GroupKind group{};
  double shortest_s = 0;  ///< Of all ranks.
};

class GroupedCalls {
 public:
  GroupedCalls(const StepProgram& program, const Grid& grid, const Log& log)
      : program_(program), grid_(grid), log_(log) {
    for (const LogRecord& record : log.records) add(record);
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
  void add(const LogRecord& record) {
    const auto operation = collective_of(record.operation);
    if (!operation || !(record.duration_s > 0) || record.payload_bytes <= 0) return;
    const auto group = group_of(log_.group_size(record));
    if (!group) return;
    const std::int64_t rank = record.rank == kUnknown ? record.source : record.rank;
    const std::int64_t number = next_[{rank, *group, *operation, record.payload_bytes}]++;
    std::vector<std::int64_t> members = {rank};  // a message has two ends, and each its own time
    if (*operation != Collective::kPointToPoint) members = grid_.members(*group, rank);
    same_[{std::move(members), *operation, record.payload_bytes, number}].push_back(calls_.size());
    calls_.push_back({record, *operation, *group, record.duration_s});
  }

  /// The first of so many ranks; 0: of any.
  [[nodiscard]] std::optional<GroupKind> group_of(std::int64_t size) const {
    for (const auto& [kind, name] : kGroupNames) {
      const std::int64_t ours = program_.group_sizes[static_cast<std::size_t>(kind)];
      if (ours >= 2 && (size == 0 || size == ours)) return kind;
    }
    return std::nullopt;
  }

  const StepProgram& program_;
  const Grid& grid_;
  const Log& log_;
  std::vector<GroupedCall> calls_;
  std::map<std::tuple<std::int64_t, GroupKind, Collective, std::int64_t>, std::int64_t> next_;
  std::map<std::tuple<std::vector<std::int64_t>, Collective, std::int64_t, std::int64_t>,
           std::vector<std::size_t>>
      same_;
};

}  // namespace

std::vector<StepMessages> step_messages(const PlannedJob& planned, const StepProgram& program,
                                        const Log& log, double steps,
                                        const std::function<bool(const LogRecord&)>& is_chosen) {
  const Cluster& cluster = planned.job.cluster;
  const std::int64_t devices = std::min(cluster.devices_per_node, cluster.devices());
  const Grid grid(planned.plan);
  std::map<std::pair<Collective, std::int64_t>, StepMessages> sums;
  const GroupedCalls calls(program, grid, log);
  for (const GroupedCall& call : calls.all()) {
    if (!is_chosen(call.record)) continue;
    const auto [place, fresh] = sums.try_emplace({call.operation, call.record.payload_bytes});
    StepMessages& sum = place->second;
    if (fresh) {
      sum.sample = {.operation = call.operation,
                    .group = socket_group(group_layout(cluster, grid.shape(call.group)),
                                          levels_in_node(cluster), devices),
                    .payload_bytes = static_cast<double>(call.record.payload_bytes)};
    }
    ++sum.calls;
    sum.sample.seconds += call.shortest_s;
    sum.waiting_s += call.record.duration_s - call.shortest_s;
  }
  std::vector<StepMessages> messages;
  for (auto& [key, sum] : sums) {
    sum.sample.seconds /= sum.calls;
    sum.waiting_s /= sum.calls;
    sum.calls /= steps;
    messages.push_back(std::move(sum));
  }
  return messages;
}

}  // namespace stepwright
