#include "stepwright/schedule/kinds/weight_filled.h"

#include <algorithm>

namespace stepwright::schedule {

Turns fill_waits_with_weight_gradients(const PipelinePositionSizes& size, std::int64_t warm_up,
                                       std::int64_t deferred) {
  const std::int64_t count = size.micro_batches;
  Turns turns;
  turns.reserve(static_cast<std::size_t>(3 * count));
  std::int64_t forwards = std::min(warm_up, count);
  for (std::int64_t i = 0; i < forwards; ++i)
    turns.push_back(make_single_part_turn(Direction::kForward, 0, i));
  for (std::int64_t j = 0; j < count; ++j) {
    turns.push_back(make_single_part_turn(Direction::kDataGradient, 0, j));
    if (j >= deferred)
      turns.push_back(make_single_part_turn(Direction::kWeightGradient, 0, j - deferred));
    if (forwards < count)
      turns.push_back(make_single_part_turn(Direction::kForward, 0, forwards++));
  }
  for (std::int64_t j = std::max<std::int64_t>(0, count - deferred); j < count; ++j) {
    turns.push_back(make_single_part_turn(Direction::kWeightGradient, 0, j));
  }
  return turns;
}

}  // namespace stepwright::schedule
