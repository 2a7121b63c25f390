#include "stepwright/collective/schedule.h"

namespace stepwright::collective {

std::int64_t piece_count_of_rank_buffer(const CollectiveSchedule& schedule, RankBufferKind buffer) {
  switch (buffer) {
    case RankBufferKind::kInput: return schedule.input_pieces;
    case RankBufferKind::kOutput: return schedule.output_pieces;
    case RankBufferKind::kScratch: return schedule.scratch_pieces;
  }
  return 0;
}

}  // namespace stepwright::collective
