#include "stepwright/traffic/matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <ostream>
#include <string_view>
#include <tuple>
#include <utility>

#include "stepwright/collective/closed_form.h"
#include "stepwright/collective/definition.h"
#include "stepwright/core/error.h"
#include "stepwright/traffic/calls.h"

namespace stepwright::traffic {
namespace {

/// Returns the rank after `rank` in its group; after the last comes the first.
std::int64_t next_in(const plan::StridedRanks& group, std::int64_t rank) {
  for (const plan::StridedRankFactor& factor : group) {
    if (rank / factor.stride % factor.size + 1 < factor.size) return rank + factor.stride;
    rank -= (factor.size - 1) * factor.stride;
  }
  return rank;
}

/// Returns the index within a group of the member that is `offset` ranks after its first rank.
std::int64_t place_in(const plan::StridedRanks& group, std::int64_t offset) {
  std::int64_t place = 0;
  std::int64_t below = 1;
  for (const plan::StridedRankFactor& factor : group) {
    place += offset / factor.stride % factor.size * below;
    below *= factor.size;
  }
  return place;
}

/// Returns how many ranks after the group's first rank its member number `place` is.
std::int64_t offset_in(const plan::StridedRanks& group, std::int64_t place) {
  std::int64_t offset = 0;
  for (const plan::StridedRankFactor& factor : group) {
    offset += place % factor.size * factor.stride;
    place /= factor.size;
  }
  return offset;
}

/// Splits a group into its part inside a node and its rail; nullopt: it has only one of the two, or
/// has different numbers of members on nodes of `devices` ranks.
std::optional<plan::SplitRankGroup> split_by_node(const plan::StridedRanks& group,
                                                  std::int64_t devices) {
  plan::SplitRankGroup parts;
  for (const plan::StridedRankFactor& factor : group) {
    if (devices % (factor.size * factor.stride) == 0) {
      parts.inner.add(factor);
    } else if (factor.stride % devices == 0) {
      parts.outer.add(factor);
    } else if (devices % factor.stride == 0 && factor.size % (devices / factor.stride) == 0) {
      const std::int64_t inside = devices / factor.stride;
      parts.inner.add({inside, factor.stride});
      parts.outer.add({factor.size / inside, devices});
    } else {
      return std::nullopt;
    }
  }
  if (parts.inner.empty() || parts.outer.empty()) return std::nullopt;
  return parts;
}

void merge_receivers(std::vector<TrafficEdge>& edges) {
  const auto by_receiver = [](const TrafficEdge& a, const TrafficEdge& b) {
    return std::tie(a.to, a.bytes) < std::tie(b.to, b.bytes);
  };
  std::sort(edges.begin(), edges.end(), by_receiver);
  std::size_t last = 0;
  for (std::size_t i = 1; i < edges.size(); ++i) {
    if (edges[i].to == edges[last].to) {
      edges[last].bytes += edges[i].bytes;
    } else {
      edges[++last] = edges[i];
    }
  }
  if (!edges.empty()) edges.resize(last + 1);
}

}  // namespace

/// Adds up the calls of a stage as flows.
class TrafficMatrix::Collector {
 public:
  Collector(const plan::RankGrid& grid, const cluster::Cluster& cluster)
      : grid_(grid),
        devices_(cluster.devices_per_node),
        inner_(collective::intra_node_pattern(cluster)) {}

  void add(const StageCommunicationCall& call) {
    const step::Operator& op = *call.op;
    const double bytes = static_cast<double>(call.count) * sent_bytes(call);
    const plan::StridedRanks& group = grid_.communicator_shape(op.group).extents;
    switch (op.kind) {
      case step::OperatorKind::kReceive: return;
      case step::OperatorKind::kSend: return add(Reach::kNeighbour, {}, bytes, call.to);
      case step::OperatorKind::kShift: return add(Reach::kNextInGroup, group, bytes);
      default: break;
    }
    if (op.group == plan::CommunicatorKind::kEmbedding) return add(Reach::kOtherEnd, {}, bytes);
    const bool exchange = op.kind == step::OperatorKind::kAllToAll;
    switch (collective::definition_of(call.algorithm).pattern) {
      case collective::MessagePattern::kAsScheduled: return add_scheduled(call, group);
      case collective::MessagePattern::kRound:
        return add(exchange ? Reach::kEachOfGroup : Reach::kNextInGroup, group, bytes);
      default: return add_levels(call, group, bytes);
    }
  }

  [[nodiscard]] std::vector<Flow> flows() const {
    std::vector<Flow> result;
    for (const auto& [key, bytes] : flows_) {
      const auto& [reach, group, to, algorithm, collective, tiers] = key;
      result.push_back({reach, group, to, {algorithm, collective, tiers}, bytes});
    }
    return result;
  }

 private:
  using Key = std::tuple<Reach, plan::StridedRanks, std::int64_t, collective::CollectiveAlgorithm,
                         collective::CollectiveOperation, std::vector<std::int32_t>>;

  void add(Reach reach, const plan::StridedRanks& group, double bytes, std::int64_t to = -1) {
    flows_[{reach,
            group,
            to,
            collective::CollectiveAlgorithm::kLibrary,
            collective::CollectiveOperation{},
            {}}] += bytes;
  }

  /// Returns the share of a rank's sent bytes that goes along the rail. A rank sends (nm-1)/(nm) of
  /// the buffer in total, of which (n-1)/n of an m-th goes along the rail. With adding switches,
  /// the share is the one in `sent_bytes`.
  static double rail_share(const StageCommunicationCall& call, bool adds) {
    const auto m = static_cast<double>(call.form.members);
    const auto n = static_cast<double>(call.form.nodes);
    if (adds) return 2 * (n - 1) / n / (m + 1 + 2 * (n - 1) / n);
    return (n - 1) / (n * m - 1);
  }

  void add_levels(const StageCommunicationCall& call, const plan::StridedRanks& group,
                  double bytes) {
    const collective::MessagePattern pattern = collective::definition_of(call.algorithm).pattern;
    const bool adds = pattern == collective::MessagePattern::kSwitches;
    const bool direct = adds || (pattern == collective::MessagePattern::kLevelsAtOnce &&
                                 inner_ == collective::IntraGroupPattern::kDirect);
    const Reach inside = direct ? Reach::kEachOfGroup : Reach::kNextInGroup;
    const auto parts = split_by_node(group, devices_);
    if (!parts) return add(adds ? inside : Reach::kNextInGroup, group, bytes);
    const double on_rail = bytes * rail_share(call, adds);
    add(inside, parts->inner, bytes - on_rail);
    add(Reach::kNextInGroup, parts->outer, on_rail);
  }

  void add_scheduled(const StageCommunicationCall& call, const plan::StridedRanks& group) {
    const collective::GroupNodeLayout& form = call.form;
    const std::vector<std::int32_t> tiers = {
        static_cast<std::int32_t>(form.has_equal_ranks_per_node() ? form.members : form.ranks),
        static_cast<std::int32_t>(form.has_equal_ranks_per_node() ? form.nodes : 1)};
    flows_[{Reach::kAsScheduled, group, -1, call.algorithm,
            step::collective_of_operator(call.op->kind), tiers}] +=
        static_cast<double>(call.count * call.op->payload_bytes());
  }

  const plan::RankGrid& grid_;
  std::int64_t devices_;
  collective::IntraGroupPattern inner_;
  std::map<Key, double> flows_;
};

TrafficMatrix::TrafficMatrix(const step::StepProgram& program, const plan::RankGrid& grid,
                             const cluster::Cluster& cluster,
                             const plan::CollectiveAlgorithmChoices& collectives,
                             std::optional<step::ParallelismScheme> only)
    : grid_(grid), flows_(program.stages.size()) {
  for (const step::PipelineStageProgram& stage : program.stages) {
    Collector collector(grid_, cluster);
    for (const StageCommunicationCall& call :
         rank_communication_calls(program, stage, grid, {&cluster, collectives})) {
      if (!only || call.op->scheme == *only) collector.add(call);
    }
    flows_[static_cast<std::size_t>(stage.position)] = collector.flows();
  }
}

std::vector<TrafficEdge> TrafficMatrix::traffic_sent_by_rank(std::int64_t from) const {
  const plan::RankCoordinates at = grid_.coordinates(from);
  std::vector<TrafficEdge> edges;
  for (const Flow& flow : flows_[static_cast<std::size_t>(at.pipeline)]) {
    append(flow, from, at, edges);
  }
  merge_receivers(edges);
  return edges;
}

void TrafficMatrix::append(const Flow& flow, std::int64_t from, const plan::RankCoordinates& at,
                           std::vector<TrafficEdge>& edges) const {
  const auto stages = static_cast<std::int64_t>(flows_.size());
  const auto send_to_stage = [&](std::int64_t stage) {
    const std::int64_t to = grid_.rank_at_coordinates(at.tensor, at.context, at.data, stage);
    edges.push_back({to, flow.bytes});
  };
  switch (flow.reach) {
    case Reach::kNextInGroup: edges.push_back({next_in(flow.group, from), flow.bytes}); break;
    case Reach::kOtherEnd: send_to_stage(stages - 1 - at.pipeline); break;
    case Reach::kNeighbour: send_to_stage(flow.to); break;
    case Reach::kAsScheduled: append_scheduled(flow, from, edges); break;
    case Reach::kEachOfGroup: {
      const double part = flow.bytes / static_cast<double>(flow.group.size() - 1);
      for (std::int64_t to = next_in(flow.group, from); to != from; to = next_in(flow.group, to)) {
        edges.push_back({to, part});
      }
      break;
    }
  }
}

/// Rank i of the schedule is the i-th member of the group; members of a node are consecutive.
void TrafficMatrix::append_scheduled(const Flow& flow, std::int64_t from,
                                     std::vector<TrafficEdge>& edges) {
  const collective::CollectiveSchedule frame = collective::empty_collective_schedule(flow.schedule);
  const double piece = flow.bytes / static_cast<double>(frame.pieces);
  const std::int64_t first_rank_of_group = flow.group.first_rank_of_group(from);
  const collective::RankCollectiveSchedule own = collective::generate_rank_schedule(
      flow.schedule, static_cast<std::int32_t>(place_in(flow.group, from - first_rank_of_group)));
  for (const collective::RankStepSequence& channel : own.channels) {
    for (const collective::CollectiveScheduleStep& step : channel.steps) {
      if (!collective::sends(step)) continue;
      edges.push_back(
          {first_rank_of_group + offset_in(flow.group, step.peer), piece * step.pieces});
    }
  }
}

void write_traffic_matrix(std::ostream& out, const TrafficMatrix& matrix,
                          std::optional<std::int64_t> from) {
  constexpr std::size_t kChunkBytes = 1 << 16;
  const std::int64_t first = from.value_or(0);
  const std::int64_t end = from ? *from + 1 : matrix.ranks();
  if (first < 0 || end > matrix.ranks()) {
    fail_input(fmt::format("rank: must be from 0 to {}; it is {}", matrix.ranks() - 1, first));
  }
  fmt::memory_buffer text;
  const auto flush = [&] {
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    text.clear();
  };
  text.append(std::string_view("from,to,bytes\n"));
  for (std::int64_t rank = first; rank < end; ++rank) {
    for (const TrafficEdge& edge : matrix.traffic_sent_by_rank(rank)) {
      fmt::format_to(std::back_inserter(text), "{},{},{}\n", rank, edge.to, edge.bytes);
    }
    if (text.size() > kChunkBytes) flush();
  }
  flush();
}

}  // namespace stepwright::traffic
