#include <utility>

#include "stepwright/schedule/kinds.h"

namespace stepwright::schedule {
namespace {

/// Each round has one forward and one backward, then joint work of all positions: embedding and
/// head, each position on its part of the vocabulary (the interlaced pipeline of nnScaler, OSDI
/// 2024, with which 2411.05288 compares). Between two joint turns a forward passes two positions
/// (at the beginning of the first and at the end of the second) and a backward, which takes longer,
/// passes one. So one and a half times as many micro-batches wait as in 1F1B.
class Rounds {
 public:
  explicit Rounds(const PipelinePositionSizes& size) : size_(size) {}

  Turns write() {
    const std::int64_t last = size_.micro_batches - 1 + backward_delay(0);
    for (std::int64_t round = -1; round <= last; ++round) write(round);
    return std::move(turns_);
  }

 private:
  /// Number of rounds from a micro-batch's first round to its part on a position.
  static std::int64_t forward_delay(std::int64_t position) { return position / 2; }
  [[nodiscard]] std::int64_t predict_delay() const { return forward_delay(size_.stages - 1); }
  [[nodiscard]] std::int64_t backward_delay(std::int64_t position) const {
    return predict_delay() + size_.stages - position;
  }

  void write(std::int64_t round) {
    const bool forward_first = size_.position % 2 == 0;
    const std::int64_t forward = round - forward_delay(size_.position);
    if (forward_first) add(Direction::kForward, forward);
    add(Direction::kBackward, round - backward_delay(size_.position));
    if (!forward_first) add(Direction::kForward, forward);
    add(Direction::kPredict, round - predict_delay());
    add(Direction::kEmbedGradient, round - backward_delay(0));
    add(Direction::kEmbed, round + 1);
  }

  void add(Direction direction, std::int64_t micro_batch) {
    if (micro_batch < 0 || micro_batch >= size_.micro_batches) return;
    turns_.push_back(make_single_part_turn(direction, 0, micro_batch));
  }

  PipelinePositionSizes size_;
  Turns turns_;
};

Turns spread_vocabulary_turns(const PipelinePositionSizes& size) { return Rounds(size).write(); }

}  // namespace

const PipelineScheduleDefinition kinds::kSpreadVocabulary = {
    .text = "1F1B in rounds, embedding and head spread over all positions, which meet for them",
    .traits = {.alone = false, .spreads_vocabulary = true},
    .turns = spread_vocabulary_turns};

}  // namespace stepwright::schedule
