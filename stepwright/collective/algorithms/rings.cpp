#include <algorithm>
#include <utility>

#include "stepwright/collective/definition.h"
#include "stepwright/collective/tiered.h"

namespace stepwright::collective {
namespace {

/// Lanes are numbered in eight bits.
constexpr std::int64_t kMostRings = 255;

/// Number of rings of a spec: the ranks of a node.
std::int32_t ring_count(const CollectiveScheduleSpec& spec) {
  return collective_schedule_rank_count(spec) / spec.tiers.back();
}

/// One of the rings, with the map from its own order of ranks and pieces to real ranks and pieces.
class PlacedRing {
 public:
  PlacedRing(const CollectiveScheduleSpec& spec, std::int32_t ring)
      : spec_(spec),
        rings_(ring_count(spec)),
        ring_(ring),
        scratch_(hierarchical_ring_scratch_pieces(one_ring_over_all_ranks(spec), spec.collective)) {
  }

  [[nodiscard]] RankCollectiveSchedule of(std::int32_t rank) const {
    RankCollectiveSchedule own =
        tiered_ring_rank_schedule(one_ring_over_all_ranks(spec_), spec_.collective, place_of(rank));
    for (RankStepSequence& channel : own.channels) {
      channel.lane = static_cast<std::uint8_t>(ring_);
      for (CollectiveScheduleStep& step : channel.steps) {
        if (step.peer >= 0) step.peer = rank_at(step.peer);
        if (reads(step)) step.source = moved(step.source);
        if (writes(step)) step.target = moved(step.target);
      }
    }
    return own;
  }

 private:
  [[nodiscard]] std::int32_t place_of(std::int32_t rank) const {
    const std::int32_t member = rank % rings_;
    return rank - member + (member - ring_ - 1 + rings_) % rings_;
  }
  [[nodiscard]] std::int32_t rank_at(std::int32_t place) const {
    const std::int32_t at = place % rings_;
    return place - at + (at + ring_ + 1) % rings_;
  }

  [[nodiscard]] PieceRunStart moved(PieceRunStart run) const {
    const auto piece = static_cast<std::int64_t>(run.piece);
    if (run.buffer == RankBufferKind::kScratch)
      return placed(run, std::int64_t{ring_} * scratch_ + piece);
    const CollectiveOperation whole_elsewhere = run.buffer == RankBufferKind::kInput
                                                    ? CollectiveOperation::kAllGather
                                                    : CollectiveOperation::kReduceScatter;
    const std::int64_t block = spec_.collective == whole_elsewhere
                                   ? 0
                                   : rank_at(static_cast<std::int32_t>(piece / spec_.chunks));
    return placed(run, (block * rings_ + ring_) * spec_.chunks + piece % spec_.chunks);
  }
  static PieceRunStart placed(PieceRunStart run, std::int64_t piece) {
    run.piece = static_cast<std::uint32_t>(piece) & kMaxSchedulePiecesPerBuffer;
    return run;
  }

  const CollectiveScheduleSpec& spec_;
  std::int32_t rings_;
  std::int32_t ring_;
  std::int32_t scratch_;
};

/// Adds the channels of `more` to a rank, and renumbers the channels in its waits.
void append(RankCollectiveSchedule& rank, RankCollectiveSchedule more) {
  const auto before = static_cast<std::int32_t>(std::ssize(rank.channels));
  for (RankStepSequence& channel : more.channels) {
    for (CollectiveStepDependency& wait : channel.waits) wait.on.channel += before;
    rank.channels.push_back(std::move(channel));
  }
}

RankCollectiveSchedule rings_rank(const CollectiveScheduleSpec& spec, std::int32_t rank) {
  RankCollectiveSchedule all;
  for (std::int32_t ring = 0; ring < ring_count(spec); ++ring) {
    append(all, PlacedRing(spec, ring).of(rank));
  }
  return all;
}

/// Seconds of the rings. A hop inside a node has a link to itself while the rings wait for the
/// NICs, and 1/(m-1) of it while they wait for the links inside; states in between are ignored.
double rings_s(const CollectiveClosedFormTerms& t) {
  const double part = 1 / t.members;
  const MessageChunkSendCost across{t.chunk_send_busy_s(t.rail, part), t.rail.latency_s};
  if (t.nodes == 1) return flat_ring_seconds(t, t.inside, across);
  const MessageChunkSendCost alone{t.chunk_send_busy_s(t.inside, part), t.inside.latency_s};
  const double shared_s = t.chunk_send_busy_s(t.inside, (t.members - 1) * part);
  const double paced = t.passes * (t.ranks - 1) * t.chunks * shared_s + t.inside.latency_s;
  return std::max(flat_ring_seconds(t, alone, across), t.members > 1 ? paced : 0);
}

}  // namespace

/// As many rings at once as a node has ranks, for tiers {m, n}: ring k carries 1/m of every block,
/// enters each node at rank k + 1 and leaves it at rank k, so that each NIC sends for one ring and
/// receives for one. Collective libraries do this on machines with a NIC per device.
///
/// | operation | messages per rank, C chunks | inside | between nodes, per rank |
/// |---|---|---|---|
/// | all-gather, reduce-scatter | m (N-1) C | (m-1)/m (N-1)/N V | (N-1)/(Nm) V |
/// | all-reduce | twice that | twice that | twice that |
///
/// The bytes are nearly the minimum on either level, but a block still takes N-1 hops, where a rail
/// takes n-1. Scratch of a reduction: 4 S. Lanes: m.
const CollectiveAlgorithmDefinition algorithms::kRings = {
    .text = "a ring for each rank of a node, each out through another NIC; N-1 steps",
    .covers = kCollectivesWithBlockPerRank,
    .exists = [](std::int64_t members, std::int64_t /*nodes*/) { return members <= kMostRings; },
    .group_requirement_text = "at most 255 ranks on a node",
    .parts = ring_count,
    .scratch =
        [](const CollectiveScheduleSpec& spec) {
          return ring_count(spec) *
                 hierarchical_ring_scratch_pieces(one_ring_over_all_ranks(spec), spec.collective);
        },
    .rank = rings_rank,
    .seconds = rings_s};

}  // namespace stepwright::collective
