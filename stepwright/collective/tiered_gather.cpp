#include "stepwright/collective/tiered_gather.h"

namespace stepwright::collective {
namespace {

/// Writes a gather. A block goes round the outermost tier first; each rank that it reaches passes
/// it on to its own group on the next tier, and so on inwards. Stages of the ring are the outer
/// loop and chunks the inner one, on every lane, so that chunk c of stage t is passed inwards while
/// chunk c + 1 arrives.
class TieredGather {
 public:
  TieredGather(const HierarchicalRingSpec& tiered, std::int32_t rank,
               const std::vector<CollectiveStepReference>& own,
               RankCollectiveScheduleWriter& writer)
      : tiered_(tiered),
        tiers_(tiered.tiers),
        rank_(rank),
        from_input_(own.empty()),
        writer_(writer),
        arrived_(static_cast<std::size_t>(tiers_.ranks()) * tiered.chunks) {
    for (std::int32_t c = 0; c < std::ssize(own); ++c) arrived_[piece(rank, c)] = own[c];
  }

  void write() {
    const int top = tiers_.levels() - 1;
    if (from_input_) writer_.copy(input_piece(0), output(piece(rank_, 0)), tiered_.chunks);
    write_outermost(top);
    for (int level = top - 1; level >= 0; --level) {
      const CollectiveStepReference all_above = tiered_.in_turn ? last_ : CollectiveStepReference{};
      for (std::int32_t t = 0; t < tiers_.size(top); ++t) {
        for (std::int32_t c = 0; c < tiered_.chunks; ++c) {
          write_group(level, {tiers_.rank_shifted_on_tier(rank_, top, -t), c, all_above});
        }
      }
    }
  }

 private:
  /// One chunk of the blocks that a group passes around.
  struct Round {
    std::int32_t block;  ///< The block at this rank's index in the group that it came from.
    std::int32_t chunk;
    CollectiveStepReference after;
  };

  [[nodiscard]] std::size_t piece(std::int32_t block, std::int32_t chunk) const {
    return static_cast<std::size_t>(block) * tiered_.chunks + chunk;
  }

  void write_outermost(int top) {
    for (std::int32_t t = 0; t + 1 < tiers_.size(top); ++t) {
      for (std::int32_t c = 0; c < tiered_.chunks; ++c) {
        pass(top, 1, {tiers_.rank_shifted_on_tier(rank_, top, -t), c, {}});
        take(top, 1, {tiers_.rank_shifted_on_tier(rank_, top, -t - 1), c, {}});
      }
    }
  }

  /// Passes on all blocks that arrived at this rank from the tiers above `level`, for each index on
  /// the tiers between the outermost one and `level`.
  void write_group(int level, const Round& round) {
    const std::int32_t above = tiers_.rank_stride_of_tier(level + 1);
    const std::int32_t group = tiers_.rank_stride_of_tier(tiers_.levels() - 1);
    const std::int32_t first = round.block / group * group + round.block % above;
    for (std::int32_t block = first; block < first / group * group + group; block += above) {
      write_blocks(level, {block, round.chunk, round.after});
    }
  }

  void write_blocks(int level, const Round& round) {
    const bool direct = tiered_.inner == IntraGroupPattern::kDirect;
    for (std::int32_t k = 1; k < tiers_.size(level); ++k) {
      const std::int32_t sent =
          direct ? round.block : tiers_.rank_shifted_on_tier(round.block, level, 1 - k);
      pass(level, direct ? k : 1, {sent, round.chunk, round.after});
      take(level, direct ? k : 1,
           {tiers_.rank_shifted_on_tier(round.block, level, -k), round.chunk, {}});
    }
  }

  void pass(int level, std::int32_t by, const Round& round) {
    const std::size_t sent = piece(round.block, round.chunk);
    const bool own_input = from_input_ && round.block == rank_;
    const PieceRunStart source =
        own_input ? input_piece(round.chunk) : output(static_cast<std::int64_t>(sent));
    const CollectiveStepReference step =
        writer_.send(level, tiers_.rank_shifted_on_tier(rank_, level, by), source);
    writer_.add_step_dependency(step, round.after);
    if (!own_input) writer_.add_step_dependency(step, arrived_[sent]);
  }

  void take(int level, std::int32_t by, const Round& round) {
    const std::size_t taken = piece(round.block, round.chunk);
    last_ = writer_.receive(level, tiers_.rank_shifted_on_tier(rank_, level, -by),
                            output(static_cast<std::int64_t>(taken)));
    arrived_[taken] = last_;
  }

  const HierarchicalRingSpec& tiered_;
  const RankHierarchy& tiers_;
  std::int32_t rank_;
  bool from_input_;
  RankCollectiveScheduleWriter& writer_;
  std::vector<CollectiveStepReference>
      arrived_;                   ///< For each piece of the output, the step with which it arrived.
  CollectiveStepReference last_;  ///< The last receive written.
};

}  // namespace

void write_tiered_all_gather(const HierarchicalRingSpec& tiered, std::int32_t rank,
                             const std::vector<CollectiveStepReference>& own,
                             RankCollectiveScheduleWriter& writer) {
  TieredGather(tiered, rank, own, writer).write();
}

}  // namespace stepwright::collective
