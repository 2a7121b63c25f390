#include <algorithm>
#include <vector>

#include "stepwright/collective/definition.h"
#include "stepwright/collective/rank_writer.h"
#include "stepwright/collective/tiers.h"

namespace stepwright::collective {
namespace {

/// Writes one rank's steps of a direct exchange.
class DirectExchange {
 public:
  DirectExchange(const CollectiveScheduleSpec& spec, std::int32_t rank)
      : spec_(spec),
        tiers_(spec.tiers),
        rank_(rank),
        writer_(1),
        sums_(static_cast<std::size_t>(spec.chunks)) {}

  RankCollectiveSchedule write() {
    const CollectiveOperation collective = spec_.collective;
    const bool reduces = collective == CollectiveOperation::kReduceScatter ||
                         collective == CollectiveOperation::kAllReduce;
    if (!reduces || tiers_.ranks() == 1) {
      const bool gathers = collective == CollectiveOperation::kAllGather;
      writer_.copy(
          gathers ? input_piece(0) : at_input(rank_, 0),
          collective == CollectiveOperation::kReduceScatter ? output(0) : at_output(rank_, 0),
          spec_.chunks);
    }
    if (reduces) for_each_peer([this](const Peers& peers, std::int32_t c) { reduce(peers, c); });
    if (collective == CollectiveOperation::kReduceScatter) return writer_.take();
    for_each_peer([this](const Peers& peers, std::int32_t c) { exchange(peers, c); });
    return writer_.take();
  }

 private:
  struct Peers {
    std::int32_t to;
    std::int32_t from;
  };

  [[nodiscard]] PieceRunStart at_input(std::int32_t block, std::int32_t c) const {
    return input_piece(std::int64_t{block} * spec_.chunks + c);
  }
  [[nodiscard]] PieceRunStart at_output(std::int32_t block, std::int32_t c) const {
    return output(std::int64_t{block} * spec_.chunks + c);
  }

  template <class Body>
  void for_each_peer(Body body) {
    for (std::int32_t offset = 1; offset < tiers_.ranks(); ++offset) {
      Peers peers{rank_, rank_};
      for (int level = 0; level < tiers_.levels(); ++level) {
        const std::int32_t by = tiers_.at(offset, level);
        peers.to = tiers_.rank_shifted_on_tier(peers.to, level, by);
        peers.from = tiers_.rank_shifted_on_tier(peers.from, level, -by);
      }
      for (std::int32_t c = 0; c < spec_.chunks; ++c) body(peers, c);
    }
  }

  void reduce(const Peers& peers, std::int32_t c) {
    const bool alone = spec_.collective == CollectiveOperation::kReduceScatter;
    const PieceRunStart sum = alone ? output(c) : at_output(rank_, c);
    writer_.send(0, peers.to, at_input(peers.to, c));
    CollectiveStepReference& added = sums_[static_cast<std::size_t>(c)];
    added = writer_.append_receive_and_add(0, peers.from, added.exists() ? sum : at_input(rank_, c),
                                           sum);
  }

  void exchange(const Peers& peers, std::int32_t c) {
    PieceRunStart sent = at_output(rank_, c);
    if (spec_.collective == CollectiveOperation::kAllGather) sent = input_piece(c);
    if (spec_.collective == CollectiveOperation::kAllToAll) sent = at_input(peers.to, c);
    const CollectiveStepReference step = writer_.send(0, peers.to, sent);
    writer_.add_step_dependency(step, sums_[static_cast<std::size_t>(c)]);
    writer_.receive(0, peers.from, at_output(peers.from, c));
  }

  const CollectiveScheduleSpec& spec_;
  RankHierarchy tiers_;
  std::int32_t rank_;
  RankCollectiveScheduleWriter writer_;
  std::vector<CollectiveStepReference>
      sums_;  ///< For each chunk, the last addition to the rank's own block.
};

RankCollectiveSchedule direct_exchange(const CollectiveScheduleSpec& spec, std::int32_t rank) {
  return DirectExchange(spec, rank).write();
}

double direct_s(const CollectiveClosedFormTerms& t) {
  if (t.ranks == 1) return 0;
  const MessageChunkSendCost& first = t.members > 1 ? t.inside : t.rail;
  const MessageChunkSendCost& last = t.nodes > 1 ? t.rail : t.inside;
  const double once =
      t.chunks * ((t.members - 1) * t.inside.bytes_s + (t.ranks - t.members) * t.rail.bytes_s);
  if (!both_ways(t.spec.collective)) return once + last.latency_s;
  // The second half waits for the sum of the first chunk or of the last one.
  const double turned = once - (t.chunks - 1) * last.bytes_s + last.latency_s;
  const double by_first = std::max(once, turned) + once;
  const double by_last = once + last.latency_s + once - (t.chunks - 1) * first.bytes_s;
  return std::max(by_first, by_last) + last.latency_s;
}

}  // namespace

/// Each rank sends directly to each other rank, with one latency in total:
///
/// | operation | messages per rank | sends per rank |
/// |---|---|---|
/// | all-to-all, all-gather, reduce-scatter | (N-1) C | (N-1)/N V |
/// | all-reduce | 2 (N-1) C | 2 (N-1)/N V |
///
/// Each rank sends (N-m)/N V bytes out of its node of m ranks: the minimum for an all-to-all, m
/// times the minimum for other operations. An all-to-all goes by tiers, so that all ranks of a node
/// send to other nodes at the same time.
const CollectiveAlgorithmDefinition algorithms::kDirect = {
    .text = "each rank to each other; one latency, (N-1)/N of the buffer",
    .covers = {CollectiveOperation::kAllGather, CollectiveOperation::kReduceScatter,
               CollectiveOperation::kAllReduce, CollectiveOperation::kAllToAll},
    .in_library = {CollectiveOperation::kAllToAll},
    .is_run_by_own_process_group = true,
    .rank = direct_exchange,
    .seconds = direct_s};

}  // namespace stepwright::collective
