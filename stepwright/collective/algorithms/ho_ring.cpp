#include <algorithm>
#include <cmath>

#include "stepwright/collective/definition.h"
#include "stepwright/collective/tiered.h"

namespace stepwright::collective {
namespace {

/// Seconds of a gather, the longest of its paths: the whole rail, then the last chunk inside; or
/// the rail up to the second or the last stage, then all remaining work inside.
double ho_gather_s(const CollectiveClosedFormTerms& t, double pass) {
  const double stage = t.chunks * pass;
  const double hop = t.rail.bytes_s + t.rail.latency_s;
  const double pace = std::max(t.chunks * t.rail.bytes_s, hop);
  const double rail = chain_seconds_of_pipelined_chunks(t.nodes - 1, t.chunks, t.rail);
  const double from_second = std::max(stage, hop) + (t.nodes - 1) * stage;
  const double from_last = (t.nodes - 2) * pace + hop + stage;
  return std::max({rail + pass, from_second, from_last}) + last_intra_node_latency(t);
}

/// Time in seconds at which the first chunk of stage `stage` is summed inside; the first two stages
/// go chunk by chunk.
double first_sum_s(const CollectiveClosedFormTerms& t, double pass, double stage) {
  return (stage < 2 ? 2 : stage * t.chunks + 1) * pass + last_intra_node_latency(t);
}

/// Seconds from the start of the last chunk on the rail until it has passed `stages` stages.
double last_chunk_s(double stages, const CollectiveClosedFormTerms& t) {
  const double alone = stages * (t.rail.bytes_s + t.rail.latency_s);
  return std::max(alone,
                  t.rail.bytes_s + chain_seconds_of_pipelined_chunks(stages - 1, t.chunks, t.rail));
}

/// Seconds of a reduction and `more` further stages of the rail, the longest of its paths: inside
/// up to the first chunk of the second, third or last stage, or the last chunk of the second or
/// last stage, then the rail.
double ho_reduce_s(const CollectiveClosedFormTerms& t, double pass, double more) {
  const double stage = t.chunks * pass;
  double longest = 0;
  for (const double from : {1.0, 2.0, t.nodes - 1}) {
    if (from >= t.nodes) continue;
    const double left = t.nodes - 1 - from + more;
    longest = std::max(
        {longest,
         first_sum_s(t, pass, from) + chain_seconds_of_pipelined_chunks(left + 1, t.chunks, t.rail),
         (from + 1) * stage + last_intra_node_latency(t) + last_chunk_s(left + 1, t)});
  }
  return longest;
}

/// Seconds of a reduction and a gather that follow each other chunk by chunk: the rail all the way,
/// or the remaining work inside after the first or the last chunk is summed.
double ho_all_reduce_s(const CollectiveClosedFormTerms& t, double pass) {
  const double end = last_intra_node_latency(t);
  const double stage = t.chunks * pass;
  const double hop = t.nodes > 1 ? t.rail.bytes_s + t.rail.latency_s : 0;
  const double inside = t.nodes * stage;
  const double first = (t.nodes > 1 ? first_sum_s(t, pass, t.nodes - 1) : pass + end) + hop;
  const double last = inside + end + hop;
  const double longest =
      std::max(std::max(inside, first) + inside, last + inside - stage + pass) + end;
  if (t.nodes == 1) return longest;
  const double by_rail = ho_reduce_s(t, pass, t.nodes - 1) + pass + end;
  return std::max({longest, by_rail, first + ho_gather_s(t, pass)});
}

double ho_ring_s(const CollectiveClosedFormTerms& t) {
  const CollectiveScheduleSpec& spec = t.spec;
  const double pass = intra_node_exchange_s(t, spec.inner);
  if (t.members == 1)
    return chain_seconds_of_pipelined_chunks(t.passes * (t.nodes - 1), t.chunks, t.rail);
  if (both_ways(spec.collective)) return ho_all_reduce_s(t, pass);
  if (t.nodes == 1) return t.chunks * pass + last_intra_node_latency(t);
  return spec.collective == CollectiveOperation::kAllGather ? ho_gather_s(t, pass)
                                                            : ho_reduce_s(t, pass, 0);
}

}  // namespace

OverlappedLevelSeconds OverlappedLevelSeconds::add_non_overlapping_seconds() const {
  if (members <= 1 || nodes <= 1) return *this;
  const double passes = both_ways(collective) ? 2 : 1;
  const double stage_s = inside_s / (passes * nodes);
  const double rail_s = network_s / (passes * (nodes - 1));
  const double ends = collective == CollectiveOperation::kAllGather ? 1 : passes + 1;
  double least = INFINITY;
  for (std::int32_t chunks = 1; chunks <= kMaxTriedChunksPerBlock; chunks *= 2) {
    const double starts = passes * chunks * kDefaultMessageStartSeconds;
    double tail_s = collective == CollectiveOperation::kAllGather ? 0 : rail_s / chunks;
    if (both_ways(collective)) tail_s = std::max(0.0, (rail_s - (chunks - 1) * stage_s) / chunks);
    const double inside = inside_s + nodes * (members - 1) * starts + tail_s;
    const double network = network_s + (nodes - 1) * starts + ends * stage_s / chunks;
    least = std::min(least, std::max(inside, network));
  }
  OverlappedLevelSeconds with = *this;
  (inside_s > network_s ? with.inside_s : with.network_s) = least;
  return with;
}

/// The hierarchical overlapping ring, for tiers {m, n} or {m, k, n} and more: groups form an outer
/// ring, and chunks that a rank receives from it are passed on inside its group while the next
/// chunk arrives. A reduce-scatter is the reverse; an all-reduce is both, chunk by chunk. The idea
/// is HO-Ring of PaRO (arXiv 2310.06003); the order of chunks and the waits are our own.
///
/// | operation | sends per rank inside | on its rail | time, C chunks, without latencies |
/// |---|---|---|---|
/// | all-gather, reduce-scatter | (m-1)/m V | (n-1)/(nm) V | max((n-1) e + a/C, n a) |
/// | all-reduce | 2 (m-1)/m V | 2 (n-1)/(nm) V | twice that |
///
/// with S = V/(nm), e = seconds of S on a rail (m of them on a NIC that the group shares), a =
/// seconds of (m-1) S inside. The bytes are the least possible on either level. Scratch of a
/// reduction: 4 S, with inner rings 4 m S. Tiers of one rank are left out.
const CollectiveAlgorithmDefinition algorithms::kHoRing = {
    .text = "along the rails and inside the nodes at the same time, in chunks",
    .covers = kCollectivesWithBlockPerRank,
    .lies = is_two_level_group,
    .group_requirement_text = kTwoLevelNeeds,
    .is_run_by_own_process_group = true,
    .pattern = MessagePattern::kLevelsAtOnce,
    .scratch = scratch_of_tiers<all_tiers>,
    .rank = rank_of_tiers<all_tiers>,
    .seconds = ho_ring_s};

}  // namespace stepwright::collective
