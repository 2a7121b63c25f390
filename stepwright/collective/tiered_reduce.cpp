#include "stepwright/collective/tiered_reduce.h"

#include <algorithm>
#include <optional>

namespace stepwright::collective {
namespace {

/// The region of scratch for the partial sums of one tier: one sum for each buffered stage, chunk
/// and index on the tiers between; with an inner ring, one for each index that a partial sum
/// passes.
struct SumRegion {
  std::int32_t first = 0;
  /// Number of indices on the tiers above this one, below the outermost.
  std::int32_t between = 1;
  std::int32_t width = 1;
};

/// Number of stages for which sums of a chunk are buffered: one is sent, one is added to, and two
/// may be summed inside or be in flight.
constexpr std::int32_t kBufferedStages = 4;

/// Number of stages whose partial sums exist at the same time.
std::int32_t buffered_stages(const HierarchicalRingSpec& tiered) {
  const std::int32_t stages = tiered.tiers.size(tiered.tiers.levels() - 1);
  return tiered.in_turn ? stages : std::min(stages, kBufferedStages);
}

/// Returns the scratch regions of each tier; the last entry is the end. The outermost tier has sums
/// of its own only if there is no tier below; otherwise it adds to those of the tier below.
std::vector<SumRegion> sum_regions(const HierarchicalRingSpec& tiered) {
  const RankHierarchy& tiers = tiered.tiers;
  const int top = tiers.levels() - 1;
  std::vector<SumRegion> regions;
  std::int32_t end = 0;
  for (int level = 0; level <= top; ++level) {
    SumRegion region{.first = end};
    if (level < top) {
      region.between = tiers.rank_stride_of_tier(top) / tiers.rank_stride_of_tier(level + 1);
      region.width = tiered.inner == IntraGroupPattern::kRing ? tiers.size(level) : 1;
    }
    regions.push_back(region);
    if (level == top && top > 0) break;
    end += buffered_stages(tiered) * tiered.chunks * region.between * region.width;
  }
  regions.push_back({.first = end});
  return regions;
}

/// Writes a reduction, the gather reversed in time: blocks for group d are first summed inside each
/// group, tier by tier, at the rank with the owner's index there, and then round the outermost
/// tier, where each rank adds its group's sum to the one that arrives. Stage t is for the group t +
/// 1 places before.
class TieredReduce {
 public:
  TieredReduce(const HierarchicalRingSpec& tiered, std::int32_t rank, std::int32_t first_output,
               RankCollectiveScheduleWriter& writer)
      : tiered_(tiered),
        tiers_(tiered.tiers),
        top_(tiers_.levels() - 1),
        rank_(rank),
        first_output_(first_output),
        writer_(writer),
        regions_(sum_regions(tiered)),
        made_(static_cast<std::size_t>(regions_.back().first)),
        used_(made_.size()),
        results_(static_cast<std::size_t>(tiered.chunks)) {}

  /// Writes all steps. The first two stages inside go chunk by chunk: additions on the rail start
  /// with the second one.
  std::vector<CollectiveStepReference> write() {
    const std::int32_t stages = tiers_.size(top_);
    for (std::int32_t c = 0; c < tiered_.chunks; ++c) {
      for (std::int32_t t = 0; t < std::min(stages, 2); ++t) write_inside({t, c});
    }
    if (!tiered_.in_turn) write_stage(1);
    for (std::int32_t t = 2; t < stages; ++t) {
      for (std::int32_t c = 0; c < tiered_.chunks; ++c) write_inside({t, c});
      if (!tiered_.in_turn) write_stage(t);
    }
    after_ = tiered_.in_turn ? last_ : CollectiveStepReference{};
    for (std::int32_t t = 1; tiered_.in_turn && t < stages; ++t) write_stage(t);
    return results_;
  }

 private:
  struct Round {
    std::int32_t stage;
    std::int32_t chunk;
  };
  /// A value that a step reads: an input piece, or a sum in scratch with the step that completes
  /// it.
  struct Value {
    PieceRunStart place;
    std::optional<std::size_t> sum;
  };

  /// The rank with this rank's index in the group that stage `stage` is for.
  [[nodiscard]] std::int32_t aimed(std::int32_t stage) const {
    return tiers_.rank_shifted_on_tier(rank_, top_, -1 - stage);
  }
  [[nodiscard]] bool final_stage(const Round& round) const {
    return round.stage + 1 == tiers_.size(top_);
  }

  /// Index of the sum of tier `level` for `block`.
  [[nodiscard]] std::size_t sum(int level, const Round& round, std::int32_t block) const {
    const SumRegion& region = regions_[static_cast<std::size_t>(level)];
    const std::int32_t buffer = round.stage % buffered_stages(tiered_);
    std::int64_t place = std::int64_t{buffer} * tiered_.chunks + round.chunk;
    if (level < top_) {
      const std::int32_t between =
          block % tiers_.rank_stride_of_tier(top_) / tiers_.rank_stride_of_tier(level + 1);
      const std::int32_t slot = region.width == 1 ? 0 : tiers_.at(block, level);
      place = (place * region.between + between) * region.width + slot;
    }
    return static_cast<std::size_t>(region.first + place);
  }

  /// The value that this rank holds of `block` before tier `level`.
  [[nodiscard]] Value value_below(int level, const Round& round, std::int32_t block) const {
    if (level == 0) return {input_piece(block * tiered_.chunks + round.chunk), {}};
    const std::size_t found = sum(level - 1, round, block);
    return {scratch(static_cast<std::int64_t>(found)), found};
  }

  void write_inside(const Round& round) {
    for (int level = 0; level < top_; ++level) {
      const std::int32_t above = tiers_.rank_stride_of_tier(level + 1);
      const std::int32_t group = tiers_.rank_stride_of_tier(top_);
      const std::int32_t begin = aimed(round.stage) / group * group;
      for (std::int32_t at = begin; at < begin + group; at += above) {
        write_group(level, round, at + rank_ % above);
      }
    }
    if (tiers_.ranks() == 1) {
      results_[round.chunk] =
          writer_.copy(input_piece(round.chunk), output(first_output_ + round.chunk));
    }
  }

  /// Writes the sum of `block` over the group of tier `level`; other ranks of the group own the
  /// neighbouring blocks.
  void write_group(int level, const Round& round, std::int32_t block) {
    const std::int32_t size = tiers_.size(level);
    for (std::int32_t k = 1; k < size; ++k) {
      if (tiered_.inner == IntraGroupPattern::kDirect) {
        send(level, k, value_below(level, round, tiers_.rank_shifted_on_tier(block, level, k)));
        add(level, k, round, {block, k == 1, k + 1 == size});
      } else {
        const std::int32_t sent = tiers_.rank_shifted_on_tier(block, level, -k);
        send(level, 1, k == 1 ? value_below(level, round, sent) : sum_of(level, round, sent));
        add(level, 1, round,
            {tiers_.rank_shifted_on_tier(block, level, -k - 1), true, k + 1 == size});
      }
    }
  }

  [[nodiscard]] Value sum_of(int level, const Round& round, std::int32_t block) const {
    const std::size_t found = sum(level, round, block);
    return {scratch(static_cast<std::int64_t>(found)), found};
  }

  void send(int level, std::int32_t by, const Value& value) {
    const CollectiveStepReference step =
        writer_.send(level, tiers_.rank_shifted_on_tier(rank_, level, by), value.place);
    use(step, value);
  }

  /// Records that `step` reads `value`, and makes it wait for the value.
  void use(CollectiveStepReference step, const Value& value) {
    if (!value.sum) return;
    writer_.add_step_dependency(step, made_[*value.sum]);
    used_[*value.sum] = step;
  }

  struct Addition {
    std::int32_t block;
    bool first;  ///< True if the addition starts the sum.
    bool last;   ///< True if the addition completes the sum.
  };

  /// Receives from the rank `by` places before, and adds to the sum of tier `level`.
  void add(int level, std::int32_t by, const Round& round, const Addition& addition) {
    const std::size_t to = sum(level, round, addition.block);
    const PieceRunStart target = scratch(static_cast<std::int64_t>(to));
    const bool result = addition.last && level + 1 == top_ && tiers_.size(top_) == 1;
    const Value below = value_below(level, round, addition.block);
    const CollectiveStepReference step =
        writer_.append_receive_and_add(level, tiers_.rank_shifted_on_tier(rank_, level, -by),
                                       addition.first ? below.place : target,
                                       result ? output(first_output_ + round.chunk) : target);
    if (addition.first) {
      if (!result) writer_.add_step_dependency(step, used_[to]);
      use(step, below);
    }
    last_ = step;
    made_[to] = step;
    if (result) results_[round.chunk] = step;
  }

  void write_stage(std::int32_t stage) {
    if (stage >= tiers_.size(top_)) return;
    for (std::int32_t c = 0; c < tiered_.chunks; ++c) write_outermost({stage, c});
  }

  /// Sends the sum of the previous stage round the outermost tier, and adds this stage's.
  void write_outermost(const Round& round) {
    const Round before{round.stage - 1, round.chunk};
    const Value sent = round.stage == 1 ? value_below(top_, before, aimed(0)) : running(before);
    const CollectiveStepReference step =
        writer_.send(top_, tiers_.rank_shifted_on_tier(rank_, top_, 1), sent.place);
    writer_.add_step_dependency(step, after_);
    use(step, sent);
    const Value below = value_below(top_, round, aimed(round.stage));
    const Value sum = running(round);
    const PieceRunStart target =
        final_stage(round) ? output(first_output_ + round.chunk) : sum.place;
    const CollectiveStepReference added = writer_.append_receive_and_add(
        top_, tiers_.rank_shifted_on_tier(rank_, top_, -1), below.place, target);
    if (top_ == 0 && !final_stage(round)) writer_.add_step_dependency(added, used_[*sum.sum]);
    use(added, below);
    made_[*sum.sum] = added;
    if (final_stage(round)) results_[round.chunk] = added;
  }

  /// The sum that goes round the outermost tier; it uses the memory of the tier below, if there is
  /// one.
  [[nodiscard]] Value running(const Round& round) const {
    return sum_of(std::max(0, top_ - 1), round, aimed(round.stage));
  }

  const HierarchicalRingSpec& tiered_;
  const RankHierarchy& tiers_;
  int top_;
  std::int32_t rank_;
  std::int32_t first_output_;
  RankCollectiveScheduleWriter& writer_;
  std::vector<SumRegion> regions_;
  std::vector<CollectiveStepReference> made_;  ///< The step that completed each sum.
  std::vector<CollectiveStepReference> used_;  ///< The last step that read each sum.
  std::vector<CollectiveStepReference> results_;
  CollectiveStepReference after_;
  CollectiveStepReference last_;
};

}  // namespace

std::vector<CollectiveStepReference> write_tiered_reduce_scatter(
    const HierarchicalRingSpec& tiered, std::int32_t rank, std::int32_t first_output,
    RankCollectiveScheduleWriter& writer) {
  return TieredReduce(tiered, rank, first_output, writer).write();
}

std::int32_t tiered_reduce_scatter_scratch_pieces(const HierarchicalRingSpec& tiered) {
  return sum_regions(tiered).back().first;
}

}  // namespace stepwright::collective
