#pragma once

#include <compare>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <vector>

#include "stepwright/core/named.h"

namespace stepwright {

/// How the chunks of a model are dealt out to pipeline positions.
enum class PlacementKind : std::uint8_t {
  /// Chunk c of the model on position c mod p: straight with one chunk each, interleaved with more
  /// (2104.04473).
  kCyclic,
  /// Position i holds chunks i and 2p-1-i: down the pipeline and up again (the folded pipeline of
  /// 2411.15871, ZB-V).
  kV,
  /// Position i holds chunks i and p-1-i of p: every chunk has two holders, and micro-batches go
  /// through from both ends (DualPipe, 2412.19437).
  kMirrored,
};

enum class ScheduleKind : std::uint8_t {
  kGpipe,
  kOneForwardOneBackward,
  kInterleaved,
  kZeroBubbleH1,
  kZeroBubbleH2,
  kZeroBubbleV,
  kVHalf,
  kVMin,
  kFolded,
  kDualPipe,
  kDualPipeV,
  kPaired,
  kStp,
  kAuto
};
inline constexpr Named<ScheduleKind> kScheduleNames[] = {
    {ScheduleKind::kGpipe, "gpipe"},
    {ScheduleKind::kOneForwardOneBackward, "1f1b"},
    {ScheduleKind::kInterleaved, "interleaved"},
    {ScheduleKind::kZeroBubbleH1, "zb-h1"},
    {ScheduleKind::kZeroBubbleH2, "zb-h2"},
    {ScheduleKind::kZeroBubbleV, "zb-v"},
    {ScheduleKind::kVHalf, "v-half"},
    {ScheduleKind::kVMin, "v-min"},
    {ScheduleKind::kFolded, "folded"},
    {ScheduleKind::kDualPipe, "dualpipe"},
    {ScheduleKind::kDualPipeV, "dualpipev"},
    {ScheduleKind::kPaired, "paired"},
    {ScheduleKind::kStp, "stp"},
    {ScheduleKind::kAuto, "auto"}};

/// What a kind of schedule asks of a plan.
struct ScheduleTraits {
  PlacementKind placement = PlacementKind::kCyclic;
  std::int64_t least_chunks = 1;  ///< Of a position.
  std::int64_t most_chunks = 1;
  bool alone = true;    ///< Also of one position.
  bool pairs = false;   ///< Has turns in which a forward stands beside a backward.
  bool braids = false;  ///< Also beside data gradients or weight gradients alone.
  bool rounds = false;  ///< Micro-batches come in rounds of as many as there are positions.
  std::int64_t least_rounds = 0;  ///< At least so many times the positions are micro-batches.
  bool found = false;             ///< Its order is looked for, by how long a plan's parts take.
  bool runs = true;               ///< A plan may name it; else it is only studied.
};

/// As many as layers allow.
inline constexpr std::int64_t kAnyChunks = std::int64_t{1} << 30;

/// A schedule in a person's words, and its traits, in the order of `kScheduleNames`.
struct ScheduleWord {
  std::string_view name;
  std::string_view text;
  ScheduleTraits traits;
};
inline constexpr ScheduleWord kScheduleWords[] = {
    {"gpipe", "all micro-batches forward, then all backward", {}},
    {"1f1b", "one forward, one backward in turn: few micro-batches in flight", {}},
    {"interleaved",
     "1f1b with several model chunks per rank: a smaller bubble, more messages",
     {.least_chunks = 2, .most_chunks = kAnyChunks, .alone = false, .rounds = true}},
    {"zb-h1",
     "1f1b with weight gradients in turns of their own, which fill the bubble",
     {.alone = false}},
    {"zb-h2", "zb-h1 with more micro-batches in flight: a smaller bubble", {.alone = false}},
    {"zb-v",
     "zero bubble, a rank holds two chunks, down the pipeline and up again",
     {.placement = PlacementKind::kV, .least_chunks = 2, .most_chunks = 2, .alone = false}},
    {"v-half",
     "as zb-v with half the activations of 1f1b",
     {.placement = PlacementKind::kV, .least_chunks = 2, .most_chunks = 2, .alone = false}},
    {"v-min",
     "as zb-v with the fewest activations",
     {.placement = PlacementKind::kV, .least_chunks = 2, .most_chunks = 2, .alone = false}},
    {"folded",
     "a rank holds chunks from both ends of the model, a forward beside a backward (DHelix)",
     {.placement = PlacementKind::kV, .least_chunks = 2, .most_chunks = 2, .pairs = true}},
    {"dualpipe",
     "micro-batches from both ends, every chunk on two ranks",
     {.placement = PlacementKind::kMirrored,
      .least_chunks = 2,
      .most_chunks = 2,
      .alone = false,
      .pairs = true,
      .least_rounds = 2,
      .runs = false}},
    {"dualpipev",
     "dualpipe on half the ranks, each with two chunks",
     {.placement = PlacementKind::kV,
      .least_chunks = 2,
      .most_chunks = 2,
      .alone = false,
      .pairs = true,
      .least_rounds = 2}},
    {"paired",
     "interleaved 1f1b with every forward beside another micro-batch's backward",
     {.least_chunks = 1, .most_chunks = kAnyChunks, .pairs = true, .rounds = true}},
    {"stp",
     "forward and backward braided around tensor-parallel messages, more in flight than zb-v",
     {.placement = PlacementKind::kV,
      .least_chunks = 2,
      .most_chunks = 2,
      .alone = false,
      .pairs = true,
      .braids = true,
      .least_rounds = 3}},
    {"auto",
     "the best of the others and of orders found for the pipeline's own durations and memory",
     {.placement = PlacementKind::kV, .most_chunks = 2, .alone = false, .found = true}}};
static_assert(std::size(kScheduleWords) == std::size(kScheduleNames));

/// The traits of a kind.
constexpr const ScheduleTraits& traits_of(ScheduleKind kind) {
  return kScheduleWords[static_cast<std::size_t>(kind)].traits;
}

/// Whether a kind of schedule works with several numbers of chunks.
constexpr bool has_chunk_choice(ScheduleKind kind) {
  return traits_of(kind).most_chunks > traits_of(kind).least_chunks;
}
/// Those of `listed` where there is a choice, else the one number.
inline std::vector<std::int64_t> chunks_of(ScheduleKind kind,
                                           const std::vector<std::int64_t>& listed) {
  if (has_chunk_choice(kind)) return listed;
  return {traits_of(kind).least_chunks};
}

/// Those of `listed` where a forward stands beside a backward, else one.
inline std::vector<std::int64_t> strands_of(ScheduleKind kind,
                                            const std::vector<std::int64_t>& listed) {
  if (traits_of(kind).pairs) return listed;
  return {1};
}

/// What one chunk takes and keeps for one micro-batch.
struct ChunkLoad {
  std::int64_t forward_ns = 0;
  std::int64_t data_ns = 0;        ///< Data gradients.
  std::int64_t weight_ns = 0;      ///< Weight gradients.
  std::int64_t backward_ns = 0;    ///< Both together, where the backward is not cut.
  std::int64_t forward_bytes = 0;  ///< From the forward to the backward or data gradients.
  std::int64_t weight_bytes = 0;   ///< From the data gradients to the weight gradients.
  auto operator<=>(const ChunkLoad&) const = default;
};

/// Where the chunks of an order that is found may lie.
inline constexpr Named<PlacementKind> kFoundPlacements[] = {{PlacementKind::kV, "v"},
                                                            {PlacementKind::kCyclic, "cyclic"}};

/// What the order of an `auto` schedule is found for.
struct OrderBasis {
  PlacementKind placement = PlacementKind::kV;  ///< Or cyclic.
  std::vector<ChunkLoad> chunks;                ///< In model order; empty: no order is settled yet.
  std::int64_t hop_ns = 0;                      ///< Of a message between positions.
  std::vector<std::int64_t> room_bytes;         ///< By position: what its chunks keep at most.
  auto operator<=>(const OrderBasis&) const = default;
};

/// The order in which pipeline positions work, and how many micro-batches run beside each other.
struct Schedule {
  ScheduleKind kind = ScheduleKind::kOneForwardOneBackward;
  std::int64_t chunks = 1;   ///< Model chunks of a pipeline position.
  std::int64_t strands = 1;  ///< 2: a forward and a backward of a turn run operator by operator.
  OrderBasis basis = {};     ///< Of `auto`: the same one has the same order.
  auto operator<=>(const Schedule&) const = default;
};

/// The schedules of a kind with these chunks and strands, as far as it has a choice of them.
inline std::vector<Schedule> schedules_of(ScheduleKind kind,
                                          const std::vector<std::int64_t>& chunks,
                                          const std::vector<std::int64_t>& strands) {
  std::vector<Schedule> schedules;
  for (const std::int64_t count : chunks_of(kind, chunks)) {
    for (const std::int64_t beside : strands_of(kind, strands)) {
      schedules.push_back({.kind = kind, .chunks = count, .strands = beside});
    }
  }
  return schedules;
}

}  // namespace stepwright
