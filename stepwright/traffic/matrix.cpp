#include "stepwright/traffic/matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <ostream>
#include <string_view>
#include <tuple>
#include <utility>

#include "stepwright/collective/ho_ring.h"
#include "stepwright/core/error.h"
#include "stepwright/traffic/calls.h"

namespace stepwright {
namespace {

/// The rank after `rank` in its group, the first one after the last.
std::int64_t next_in(const Extents& group, std::int64_t rank) {
  for (const Extent& factor : group) {
    if (rank / factor.stride % factor.size + 1 < factor.size) return rank + factor.stride;
    rank -= (factor.size - 1) * factor.stride;
  }
  return rank;
}

/// The part of a group inside a node and its rail; nothing when the group has only one of the two
/// or lies unevenly over nodes of `devices` ranks.
std::optional<CutExtents> split_by_node(const Extents& group, std::int64_t devices) {
  CutExtents parts;
  for (const Extent& factor : group) {
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

void merge_receivers(std::vector<Edge>& edges) {
  const auto by_receiver = [](const Edge& a, const Edge& b) {
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

/// Adds the calls of a stage up to flows.
class TrafficMatrix::Collector {
 public:
  Collector(const Grid& grid, const Cluster& cluster, Algorithm data_algorithm)
      : grid_(grid),
        devices_(cluster.devices_per_node),
        inner_(inner_for(cluster)),
        data_algorithm_(data_algorithm) {}

  void add(const Call& call) {
    const Operator& op = *call.op;
    const double bytes = static_cast<double>(call.count) * sent_bytes(call);
    const Extents& group = grid_.shape(op.group).extents;
    switch (op.kind) {
      case OperatorKind::kReceive: return;
      case OperatorKind::kSend: return add(Reach::kNeighbour, {}, bytes, call.to);
      case OperatorKind::kAllToAll: return add(Reach::kEachOfGroup, group, bytes);
      case OperatorKind::kShift: return add(Reach::kNextInGroup, group, bytes);
      default: break;
    }
    if (op.group == GroupKind::kEmbedding) return add(Reach::kOtherEnd, {}, bytes);
    add_ring(op.scheme, group, bytes);
  }

  [[nodiscard]] std::vector<Flow> flows() const {
    std::vector<Flow> result;
    for (const auto& [key, bytes] : flows_) {
      const auto& [reach, group, to] = key;
      result.push_back({reach, group, to, bytes});
    }
    return result;
  }

 private:
  void add(Reach reach, const Extents& group, double bytes, std::int64_t to = -1) {
    flows_[{reach, group, to}] += bytes;
  }

  /// Two levels: (m-1)/m of the buffer round the node, (n-1)/n of an m-th of it along the rail, of
  /// the (nm-1)/(nm) that a rank sends in all.
  void add_ring(Scheme scheme, const Extents& group, double bytes) {
    const bool two_level = scheme == Scheme::kData && data_algorithm_ != Algorithm::kRing;
    const auto parts = two_level ? split_by_node(group, devices_) : std::nullopt;
    if (!parts) return add(Reach::kNextInGroup, group, bytes);
    const auto n = static_cast<double>(parts->outer.size());
    const auto all = static_cast<double>(group.size());
    const double on_rail = bytes * (n - 1) / (all - 1);
    const bool direct = data_algorithm_ == Algorithm::kHoRing && inner_ == Inner::kDirect;
    add(direct ? Reach::kEachOfGroup : Reach::kNextInGroup, parts->inner, bytes - on_rail);
    add(Reach::kNextInGroup, parts->outer, on_rail);
  }

  const Grid& grid_;
  std::int64_t devices_;
  Inner inner_;
  Algorithm data_algorithm_;
  std::map<std::tuple<Reach, Extents, std::int64_t>, double> flows_;
};

TrafficMatrix::TrafficMatrix(const StepProgram& program, const Grid& grid, const Cluster& cluster,
                             Algorithm data_algorithm)
    : grid_(grid), flows_(program.stages.size()) {
  for (const Stage& stage : program.stages) {
    Collector collector(grid_, cluster, data_algorithm);
    for (const Call& call : calls_of(program, stage)) collector.add(call);
    flows_[static_cast<std::size_t>(stage.position)] = collector.flows();
  }
}

std::vector<Edge> TrafficMatrix::row(std::int64_t from) const {
  const Coordinates at = grid_.coordinates(from);
  std::vector<Edge> edges;
  for (const Flow& flow : flows_[static_cast<std::size_t>(at.pipeline)]) {
    append(flow, from, at, edges);
  }
  merge_receivers(edges);
  return edges;
}

void TrafficMatrix::append(const Flow& flow, std::int64_t from, const Coordinates& at,
                           std::vector<Edge>& edges) const {
  const auto stages = static_cast<std::int64_t>(flows_.size());
  const auto send_to_stage = [&](std::int64_t stage) {
    const std::int64_t to = grid_.rank_at(at.tensor, at.context, at.data, stage);
    edges.push_back({to, flow.bytes});
  };
  switch (flow.reach) {
    case Reach::kNextInGroup: edges.push_back({next_in(flow.group, from), flow.bytes}); break;
    case Reach::kOtherEnd: send_to_stage(stages - 1 - at.pipeline); break;
    case Reach::kNeighbour: send_to_stage(flow.to); break;
    case Reach::kEachOfGroup: {
      const double part = flow.bytes / static_cast<double>(flow.group.size() - 1);
      for (std::int64_t to = next_in(flow.group, from); to != from; to = next_in(flow.group, to)) {
        edges.push_back({to, part});
      }
      break;
    }
  }
}

void write_matrix(std::ostream& out, const TrafficMatrix& matrix,
                  std::optional<std::int64_t> from) {
  constexpr std::size_t kChunkBytes = 1 << 16;
  const std::int64_t first = from.value_or(0);
  const std::int64_t end = from ? *from + 1 : matrix.ranks();
  if (first < 0 || end > matrix.ranks()) {
    fail_input(fmt::format("rank: {} is not one of 0 to {}", first, matrix.ranks() - 1));
  }
  fmt::memory_buffer text;
  const auto flush = [&] {
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    text.clear();
  };
  text.append(std::string_view("from,to,bytes\n"));
  for (std::int64_t rank = first; rank < end; ++rank) {
    for (const Edge& edge : matrix.row(rank)) {
      fmt::format_to(std::back_inserter(text), "{},{},{}\n", rank, edge.to, edge.bytes);
    }
    if (text.size() > kChunkBytes) flush();
  }
  flush();
}

}  // namespace stepwright
