#include "stepwright/schedule/kinds/alternating.h"

#include <algorithm>

namespace stepwright::schedule {
namespace {

/// Iterates over the forwards, or the backwards, of a position of an interleaved pipeline in their
/// order.
class PartsInOrder {
 public:
  PartsInOrder(const PipelinePositionSizes& size, Direction direction)
      : size_(size), direction_(direction), group_(size.micro_batch_group_size()) {
    begin_group(0);
  }

  PipelineWorkPart next() {
    const bool forward = direction_ == Direction::kForward;
    const PipelineWorkPart part = make_schedule_work_item(
        direction_, forward ? chunk_ : size_.chunks - 1 - chunk_, first_ + within_);
    if (++within_ < held_) return part;
    within_ = 0;
    if (++chunk_ == size_.chunks) begin_group(first_ + held_);
    return part;
  }

 private:
  void begin_group(std::int64_t micro_batch) {
    first_ = micro_batch;
    held_ = std::min(group_, size_.micro_batches - micro_batch);
    chunk_ = 0;
  }

  const PipelinePositionSizes& size_;
  Direction direction_;
  std::int64_t group_;
  std::int64_t first_ = 0;   ///< First micro-batch of the group.
  std::int64_t held_ = 0;    ///< Micro-batches in the group.
  std::int64_t within_ = 0;  ///< Index in the group of the next micro-batch.
  /// Chunk of the next micro-batch, counted in the order of the direction.
  std::int64_t chunk_ = 0;
};

}  // namespace

Turns one_forward_one_backward(const PipelinePositionSizes& size, std::int64_t warm_up,
                               bool side_by_side) {
  const std::int64_t total = size.micro_batches * size.chunks;
  const std::int64_t first = std::min(warm_up, total);
  PartsInOrder forwards(size, Direction::kForward);
  PartsInOrder backwards(size, Direction::kBackward);
  Turns turns;
  turns.reserve(static_cast<std::size_t>(2 * total));
  for (std::int64_t k = 0; k < first; ++k) turns.push_back({forwards.next(), {}});
  for (std::int64_t k = first; k < total; ++k) {
    PipelineScheduleTurn& forward = turns.emplace_back(PipelineScheduleTurn{forwards.next(), {}});
    if (side_by_side) {
      forward.beside = backwards.next();
    } else {
      turns.push_back({backwards.next(), {}});
    }
  }
  for (std::int64_t k = total - first; k < total; ++k) turns.push_back({backwards.next(), {}});
  return turns;
}

}  // namespace stepwright::schedule
