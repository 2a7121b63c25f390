#include "stepwright/collective/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "stepwright/collective/direct.h"
#include "stepwright/collective/halving_doubling.h"
#include "stepwright/collective/ho_ring.h"
#include "stepwright/collective/rail_halving.h"
#include "stepwright/collective/relay.h"
#include "stepwright/collective/ring.h"
#include "stepwright/collective/rings.h"
#include "stepwright/collective/tree.h"
#include "stepwright/collective/two_level.h"
#include "stepwright/core/error.h"

namespace stepwright {
namespace {

bool gathers_or_reduces(Collective collective) {
  return collective == Collective::kAllGather || collective == Collective::kReduceScatter ||
         collective == Collective::kAllReduce;
}

bool covers(Method method, Collective collective) {
  switch (method) {
    case Method::kDirect:
      return gathers_or_reduces(collective) || collective == Collective::kAllToAll;
    case Method::kTree:
      return collective == Collective::kBroadcast || collective == Collective::kReduce ||
             collective == Collective::kAllReduce;
    case Method::kRelay: return collective == Collective::kAllToAll;
    default: return gathers_or_reduces(collective);
  }
}

/// The tiers of an algorithm of the tiered family.
Tiered tiered_of(const ScheduleSpec& spec) {
  switch (spec.method) {
    case Method::kTwoLevel: return two_level_tiers(spec);
    case Method::kHoRing: return ho_ring_tiers(spec);
    default: return ring_tiers(spec);
  }
}

bool is_tiered(const ScheduleSpec& spec) {
  return spec.method == Method::kRing || spec.method == Method::kTwoLevel ||
         spec.method == Method::kHoRing;
}

/// Lanes are numbered in eight bits.
constexpr std::int32_t kMostRings = 255;

std::int32_t scratch_of(const ScheduleSpec& spec) {
  if (is_tiered(spec)) return tiered_scratch(tiered_of(spec), spec.collective);
  switch (spec.method) {
    case Method::kHalvingDoubling: return halving_doubling_scratch(spec);
    case Method::kTree: return spec.collective == Collective::kReduce ? spec.chunks : 0;
    case Method::kRailHalving: return rail_halving_scratch(spec);
    case Method::kRelay: return relay_scratch(spec);
    case Method::kRings:
      return ring_count(spec) * tiered_scratch(ring_tiers(spec), spec.collective);
    default: return 0;
  }
}

}  // namespace

std::int32_t chunks_of(double block_bytes, double chunk_bytes) {
  constexpr double kMost = 32;
  if (chunk_bytes <= 0) return 1;
  return static_cast<std::int32_t>(std::clamp(std::floor(block_bytes / chunk_bytes), 1.0, kMost));
}

std::int32_t ranks_of(const ScheduleSpec& spec) {
  return std::accumulate(spec.tiers.begin(), spec.tiers.end(), 1, std::multiplies<>());
}

std::int32_t block_pieces(const ScheduleSpec& spec) {
  return spec.method == Method::kRings ? spec.chunks * ring_count(spec) : spec.chunks;
}

std::optional<std::string> why_not(const ScheduleSpec& spec) {
  std::int64_t pieces = std::max(1, spec.chunks);
  for (const std::int32_t size : spec.tiers) {
    if (size < 1) return fmt::format("tiers: {} is not a number of ranks", size);
    pieces *= size;
    if (pieces > std::int64_t{kMostPieces}) return "ranks x chunks exceed 2^30";
  }
  if (spec.tiers.empty()) return "tiers: none given";
  if (spec.chunks < 1) return fmt::format("chunks: {} is below 1", spec.chunks);
  if (!covers(spec.method, spec.collective)) {
    return fmt::format("{} does not cover this operation", name_of(kMethodNames, spec.method));
  }
  if (spec.method == Method::kHalvingDoubling &&
      !std::has_single_bit(static_cast<std::uint32_t>(ranks_of(spec)))) {
    return fmt::format("halving-doubling: {} ranks are not a power of two", ranks_of(spec));
  }
  if (spec.method == Method::kRailHalving &&
      !std::has_single_bit(static_cast<std::uint32_t>(spec.tiers.back()))) {
    return fmt::format("rail-halving: {} nodes are not a power of two", spec.tiers.back());
  }
  if (spec.method == Method::kRings && ring_count(spec) > kMostRings) {
    return fmt::format("rings: {} ranks in a group, at most {}", ring_count(spec), kMostRings);
  }
  if (std::int64_t{ranks_of(spec)} * block_pieces(spec) > std::int64_t{kMostPieces}) {
    return "ranks x chunks exceed 2^30";
  }
  return {};
}

CollectiveSchedule schedule_frame(const ScheduleSpec& spec) {
  if (const auto reason = why_not(spec)) fail_unsupported(*reason);
  const bool whole = spec.method == Method::kTree;
  CollectiveSchedule frame{.collective = spec.collective};
  const std::int32_t block = block_pieces(spec);
  frame.pieces = whole ? spec.chunks : ranks_of(spec) * block;
  frame.input_pieces = spec.collective == Collective::kAllGather ? block : frame.pieces;
  frame.output_pieces = spec.collective == Collective::kReduceScatter ? block : frame.pieces;
  frame.scratch_pieces = scratch_of(spec);
  return frame;
}

RankSchedule schedule_rank(const ScheduleSpec& spec, std::int32_t rank) {
  if (is_tiered(spec)) return tiered_rank(tiered_of(spec), spec.collective, rank);
  switch (spec.method) {
    case Method::kHalvingDoubling: return halving_doubling(spec, rank);
    case Method::kTree: return binomial_tree(spec, rank);
    case Method::kRailHalving: return rail_halving(spec, rank);
    case Method::kRelay: return relay_exchange(spec, rank);
    case Method::kRings: return rings_rank(spec, rank);
    default: return direct_exchange(spec, rank);
  }
}

CollectiveSchedule generate(const ScheduleSpec& spec) {
  CollectiveSchedule schedule = schedule_frame(spec);
  const std::int32_t ranks = ranks_of(spec);
  schedule.ranks.reserve(static_cast<std::size_t>(ranks));
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    schedule.ranks.push_back(schedule_rank(spec, rank));
  }
  return schedule;
}

std::string_view described(Method method) {
  switch (method) {
    case Method::kRing: return "one ring over all ranks; N-1 steps, (N-1)/N of the buffer";
    case Method::kRings:
      return "a ring for each rank of a node, each out through another NIC; N-1 steps";
    case Method::kHalvingDoubling:
      return "recursive halving and doubling, 2^k ranks; log2 N steps, (N-1)/N of the buffer";
    case Method::kTree: return "binomial tree for small buffers; log2 N rounds of the whole buffer";
    case Method::kDirect: return "each rank to each other; one latency, (N-1)/N of the buffer";
    case Method::kTwoLevel: return "along the rails and inside the nodes in turn";
    case Method::kRailHalving:
      return "halving and doubling along the rails, 2^k nodes, and inside the nodes in turn";
    case Method::kHoRing: return "along the rails and inside the nodes at the same time, in chunks";
    case Method::kRelay: return "all-to-all along the rails, passed on inside the nodes";
  }
  return {};
}

std::int32_t even_group(const std::vector<std::int32_t>& ranks_per_node) {
  std::int32_t group = 0;
  for (const std::int32_t ranks : ranks_per_node) group = std::gcd(group, ranks);
  return std::max(1, group);
}

}  // namespace stepwright
