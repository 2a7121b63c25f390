#include "stepwright/collective/schedule.h"

namespace stepwright::collective {

std::int64_t pieces_of(const CollectiveSchedule& schedule, RankBuffer buffer) {
  switch (buffer) {
    case RankBuffer::kInput: return schedule.input_pieces;
    case RankBuffer::kOutput: return schedule.output_pieces;
    case RankBuffer::kScratch: return schedule.scratch_pieces;
  }
  return 0;
}

}  // namespace stepwright::collective
