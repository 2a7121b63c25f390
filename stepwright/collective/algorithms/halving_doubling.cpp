#include "stepwright/collective/definition.h"
#include "stepwright/collective/rank_writer.h"

namespace stepwright::collective {
namespace {

/// Writes one rank's steps. The run of step i is the 2^i blocks whose numbers agree from bit i on.
class HalvingDoubling {
 public:
  HalvingDoubling(const CollectiveScheduleSpec& spec, std::int32_t rank)
      : spec_(spec), ranks_(collective_schedule_rank_count(spec)), rank_(rank), writer_(1) {}

  RankCollectiveSchedule write() {
    if (spec_.collective == CollectiveOperation::kAllGather || ranks_ == 1) {
      const bool one_of_many = spec_.collective == CollectiveOperation::kAllGather;
      copied_ = writer_.copy(input_piece(0), output(one_of_many ? pieces(rank_) : 0), spec_.chunks);
    }
    if (spec_.collective != CollectiveOperation::kAllGather) reduce();
    if (spec_.collective != CollectiveOperation::kReduceScatter) gather();
    return writer_.take();
  }

 private:
  /// Number of pieces of `blocks` blocks.
  [[nodiscard]] std::int64_t pieces(std::int32_t blocks) const {
    return std::int64_t{blocks} * spec_.chunks;
  }

  /// First piece of the run of `bit` blocks that contains `rank`.
  [[nodiscard]] std::int64_t run(std::int32_t rank, std::int32_t bit) const {
    return pieces(rank / bit * bit);
  }

  /// Where partial sums are stored: in scratch, or for an all-reduce in its output.
  [[nodiscard]] PieceRunStart sums(std::int64_t piece) const {
    if (spec_.collective == CollectiveOperation::kAllReduce) return output(piece);
    return scratch(piece - run(rank_, ranks_ / 2));
  }

  void reduce() {
    for (std::int32_t bit = ranks_ / 2; bit >= 1; bit /= 2) {
      const bool first = bit == ranks_ / 2;
      const bool last = bit == 1 && spec_.collective == CollectiveOperation::kReduceScatter;
      const std::int32_t peer = rank_ ^ bit;
      const std::int64_t sent = run(peer, bit);
      const std::int64_t kept = run(rank_, bit);
      const CollectiveStepReference step =
          writer_.send(0, peer, first ? input_piece(sent) : sums(sent), pieces(bit));
      writer_.add_step_dependency(step, received_);
      received_ = writer_.append_receive_and_add(0, peer, first ? input_piece(kept) : sums(kept),
                                                 last ? output(0) : sums(kept), pieces(bit));
      sent_ = step;
    }
  }

  void gather() {
    for (std::int32_t bit = 1; bit < ranks_; bit *= 2) {
      const bool own = bit == 1 && spec_.collective == CollectiveOperation::kAllGather;
      const std::int32_t peer = rank_ ^ bit;
      const CollectiveStepReference step =
          writer_.send(0, peer, own ? input_piece(0) : output(run(rank_, bit)), pieces(bit));
      writer_.add_step_dependency(step, received_);
      if (!own) writer_.add_step_dependency(step, copied_);
      received_ = writer_.receive(0, peer, output(run(peer, bit)), pieces(bit));
      writer_.add_step_dependency(received_, sent_);  // The partial sums there have been sent.
    }
  }

  const CollectiveScheduleSpec& spec_;
  std::int32_t ranks_;
  std::int32_t rank_;
  RankCollectiveScheduleWriter writer_;
  CollectiveStepReference copied_;
  CollectiveStepReference received_;  ///< The last receive of the rank.
  CollectiveStepReference sent_;      ///< The last send of a partial sum.
};

RankCollectiveSchedule halving_doubling(const CollectiveScheduleSpec& spec, std::int32_t rank) {
  return HalvingDoubling(spec, rank).write();
}

std::int32_t halving_doubling_scratch(const CollectiveScheduleSpec& spec) {
  return spec.collective == CollectiveOperation::kReduceScatter
             ? collective_schedule_rank_count(spec) / 2 * spec.chunks
             : 0;
}

double halving_doubling_s(const CollectiveClosedFormTerms& t) {
  double seconds = 0;
  for (std::int32_t bit = 1; bit < t.ranks; bit *= 2) {
    const MessageChunkSendCost& hop = bit < t.members ? t.inside : t.rail;
    seconds += t.chunk_send_busy_s(hop, bit * t.chunks) + hop.latency_s;
  }
  return t.passes * seconds;
}

}  // namespace

/// Recursive doubling gathers, recursive halving reduces (Thakur et al. 2005), for N = 2^k ranks:
/// in step i a rank exchanges 2^i blocks with the rank whose number differs in bit i.
///
/// | operation | steps | sends per rank |
/// |---|---|---|
/// | all-gather, reduce-scatter | log2 N | (N-1)/N V |
/// | all-reduce | 2 log2 N | 2 (N-1)/N V |
///
/// It has few latencies. All ranks of a node use its NICs at the same time, and (N-m)/N V per rank
/// leave the node: m times the minimum. Scratch of a reduce-scatter: V/2.
const CollectiveAlgorithmDefinition algorithms::kHalvingDoubling = {
    .text = "recursive halving and doubling, 2^k ranks; log2 N steps, (N-1)/N of the buffer",
    .covers = kCollectivesWithBlockPerRank,
    .exists = [](std::int64_t members,
                 std::int64_t nodes) { return is_power_of_two(members * nodes); },
    .group_requirement_text = "a power of two of ranks",
    .is_run_by_own_process_group = true,
    .across = NodeScheduleSymmetry::kHalves,
    .scratch = halving_doubling_scratch,
    .rank = halving_doubling,
    .seconds = halving_doubling_s};

}  // namespace stepwright::collective
