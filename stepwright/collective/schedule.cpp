#include "stepwright/collective/schedule.h"

namespace stepwright {

std::int64_t step_count(const Schedule& schedule) {
  std::int64_t count = 0;
  for (const RankSchedule& rank : schedule.ranks) {
    for (const Channel& channel : rank.channels) count += std::ssize(channel.steps);
  }
  return count;
}

std::int64_t pieces_of(const Schedule& schedule, Buffer buffer) {
  switch (buffer) {
    case Buffer::kInput: return schedule.input_pieces;
    case Buffer::kOutput: return schedule.output_pieces;
    case Buffer::kScratch: return schedule.scratch_pieces;
  }
  return 0;
}

}  // namespace stepwright
