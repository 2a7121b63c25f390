#pragma once

#include <cstdint>

namespace stepwright::schedule {

/// The pipeline schedules. To add one: an enumerator here, a file in `kinds/` that defines it,
/// and a row in `kScheduleRows` (kinds.h).
enum class PipelineScheduleKind : std::uint8_t {
  kGpipe,
  kOneForwardOneBackward,
  kInterleaved,
  kZeroBubbleH1,
  kZeroBubbleH2,
  kZeroBubbleV,
  kVHalf,
  kVMin,
  kFolded,
  kDualPipe,
  kDualPipeV,
  kPaired,
  kStp,
  kSpreadVocabulary,
  kVocabularyOne,
  kVocabularyTwo,
  kAuto
};

}  // namespace stepwright::schedule
