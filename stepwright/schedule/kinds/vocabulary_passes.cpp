#include <utility>

#include "stepwright/schedule/kinds.h"

namespace stepwright::schedule {
namespace {

/// 1F1B with embedding and head split over the positions, which do not wait for each other: each
/// does its passes between its forwards and backwards, overlapped with the messages between all
/// positions (2411.05288, algorithms 1 and 2). Between a forward of the last position and its
/// backward all positions take part once, or twice, so that as many more micro-batches wait as
/// there are barriers. Round k computes the logits of micro-batch k. All positions send the
/// messages of a round in the same order, each posted one forward or backward before it is awaited.
/// The place of a round is as in the article's artifact, where a backward takes as long as two
/// forwards (sail-sg/VocabularyParallelism, megatron/core/pipeline_parallel/schedules.py,
/// forward_backward_pipelining_with_vocab_parallel), so that each position has one round between
/// two forwards of the last position.
///
/// Round k has the logits of micro-batch k. All positions have the messages of a round in one
/// order, each posted a forward or a backward before it is awaited. Where a round stands between
/// them: as in the artifact of the article where a backward takes two forwards
/// (sail-sg/VocabularyParallelism, megatron/core/pipeline_parallel/schedules.py,
/// forward_backward_pipelining_with_vocab_parallel), so that between two forwards of the last
/// position each has one.
template <std::int64_t kBarriers>
class Passes {
 public:
  explicit Passes(const PipelinePositionSizes& size) : size_(size) {}

  Turns write() {
    const std::int64_t p = size_.stages;
    for (std::int64_t i = 0; i < kBarriers; ++i) add(Direction::kEmbeddingLookUp, i);
    for (std::int64_t i = 0; i < p; ++i) {
      add(Direction::kTakeRows, i);
      add(Direction::kEmbeddingLookUp, i + kBarriers);
      add(Direction::kForward, i - size_.position);
    }
    const std::int64_t last = size_.micro_batches + kBarriers + rounds_ahead(p - 1);
    for (std::int64_t round = 0; round <= last; ++round) write(round);
    return std::move(turns_);
  }

 private:
  /// Number of rounds that a position with `pipeline_positions_after_this` positions after it does
  /// before its first backward, minus those of the last position: one for each position after it,
  /// except where the order in a round changes.
  static std::int64_t rounds_ahead(std::int64_t pipeline_positions_after_this) {
    return pipeline_positions_after_this == 0
               ? 0
               : pipeline_positions_after_this - (pipeline_positions_after_this - 1) / 3;
  }

  /// True if a position's forward is between its backward and the passes of a round.
  [[nodiscard]] bool forward_first() const {
    return size_.pipeline_positions_after_this() > 0 &&
           size_.pipeline_positions_after_this() % 3 == 0;
  }

  void write(std::int64_t round) {
    const std::int64_t ahead = rounds_ahead(size_.pipeline_positions_after_this());
    const std::int64_t backward = round - kBarriers - ahead;
    if (backward < 0) {  // the pipeline still fills
      post(round);
      take_rows(round);
      passes(round);
      if (round < kBarriers)
        add(Direction::kForward, size_.pipeline_positions_after_this() + 1 + round);
      return;
    }
    const std::int64_t forward = size_.pipeline_positions_after_this() + 1 + kBarriers + backward;
    if (!forward_first()) {
      post(round);
      add(Direction::kBackward, backward);
      take_rows(round);
      passes(round);
      add(Direction::kForward, forward);
      return;
    }
    add(Direction::kBackward, backward);
    take_rows(round);
    post(round);
    add(Direction::kForward, forward);
    passes(round);
  }

  /// Adds the intake of rows for the next forward, after the messages of the previous round; the
  /// last position may do its share of that round just before the first position does this one's.
  void take_rows(std::int64_t round) {
    add(Direction::kTakeRows, round < kBarriers ? size_.stages + round : looked_up(round - 1));
  }

  /// Adds the last position's intake of gradients of an earlier round, and the messages that both
  /// ends send to all.
  void post(std::int64_t round) {
    add(Direction::kTakeGradient, round - kBarriers);
    add(Direction::kHandGradient, gradient(round));
    add(Direction::kHandRows, round);
  }

  void passes(std::int64_t round) {
    add(Direction::kTableGradient, gradient(round));
    add(Direction::kLogitGradient, round - 1);
    add(Direction::kLogits, round);
    if (kBarriers > 1) add(Direction::kSumGradient, round - 1);
    add(Direction::kEmbeddingLookUp, looked_up(round));
  }

  /// Micro-batch whose tokens a round looks up: the one that the first position forwards one round
  /// later.
  [[nodiscard]] std::int64_t looked_up(std::int64_t round) const {
    const std::int64_t first = kBarriers - 1 + rounds_ahead(size_.stages - 1);
    return round < first ? -1 : size_.stages + kBarriers + round - first;
  }

  /// Micro-batch whose backward the first position ended in the previous round.
  [[nodiscard]] std::int64_t gradient(std::int64_t round) const {
    return round - kBarriers - rounds_ahead(size_.stages - 1) - 1;
  }

  void add(Direction direction, std::int64_t micro_batch) {
    if (micro_batch < 0 || micro_batch >= size_.micro_batches) return;
    turns_.push_back(make_single_part_turn(direction, 0, micro_batch));
  }

  PipelinePositionSizes size_;
  Turns turns_;
};

template <std::int64_t kBarriers>
Turns passes_turns(const PipelinePositionSizes& size) {
  return Passes<kBarriers>(size).write();
}

}  // namespace

const PipelineScheduleDefinition kinds::kVocabularyOne = {
    .text = "1F1B, embedding and head spread over all positions, which do not meet; two barriers",
    .traits = {.alone = false, .spreads_vocabulary = true, .barriers = 2},
    .turns = passes_turns<2>};

const PipelineScheduleDefinition kinds::kVocabularyTwo = {
    .text = "1F1B, embedding and head spread over all positions, which do not meet; one barrier",
    .traits = {.alone = false, .spreads_vocabulary = true, .barriers = 1},
    .turns = passes_turns<1>};

}  // namespace stepwright::schedule
