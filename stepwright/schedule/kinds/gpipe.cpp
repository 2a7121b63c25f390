#include "stepwright/schedule/kinds.h"

namespace stepwright::schedule {
namespace {

/// GPipe: all forwards, then all backwards (1811.06965).
Turns gpipe_turns(const PipelinePositionSizes& size) {
  Turns turns;
  for (const Direction direction : {Direction::kForward, Direction::kBackward}) {
    for (std::int64_t i = 0; i < size.micro_batches; ++i) {
      turns.push_back(make_single_part_turn(direction, 0, i));
    }
  }
  return turns;
}

double gpipe_s(std::int64_t micro_batches, const PipelinePositionSeconds& seconds) {
  return seconds.micro_batch_round_trip_s() + seconds.round_trip_hops_s() +
         static_cast<double>(micro_batches - 1) *
             (std::ranges::max(seconds.forward) + std::ranges::max(seconds.backward));
}

std::int64_t gpipe_waiting(const PipelinePositionSizes& at, std::int64_t /*chunk*/) {
  return at.micro_batches;
}

}  // namespace

const PipelineScheduleDefinition kinds::kGpipe = {
    .text = "all micro-batches forward, then all backward",
    .turns = gpipe_turns,
    .form = {.seconds = gpipe_s, .waiting = gpipe_waiting}};

}  // namespace stepwright::schedule
