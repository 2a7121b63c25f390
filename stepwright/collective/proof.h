#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "stepwright/collective/schedule.h"

namespace stepwright::collective {

/// The kinds of defects of a schedule.
enum class DefectKind : std::uint8_t {
  kMalformed,    ///< A piece, peer, wait or buffer that does not exist, or a write to the input.
  kDeadlock,     ///< Steps that wait for each other, or for a message that nobody sends.
  kMismatch,     ///< A message whose ends differ in length.
  kAmbiguous,    ///< Messages of one lane between two ranks from two channels: no order.
  kUnwritten,    ///< A read of what nothing has written before.
  kConflict,     ///< Two steps of a rank that touch one piece in no order, and one writes.
  kTwice,        ///< A contribution that is added to itself.
  kWrongResult,  ///< An output piece that is not what the collective promises.
};

/// The first thing that is wrong.
struct Defect {
  DefectKind kind{};
  std::int32_t rank = 0;
  StepRef at;        ///< Step that is at fault, if one is.
  std::string text;  ///< Explanation of the defect, for people.
};

/// The first defect of a schedule; nothing: it is proven that, whatever the timing,
///
/// - it ends, even where a send lasts until the peer receives (no buffering anywhere);
/// - every piece is written before it is read, and no two steps of a rank touch a piece, one of
/// them
///   writing, unless the rank's own channels and waits order them;
/// - every output piece is the sum of exactly the contributions that the collective promises, each
///   once, and of nothing else.
///
/// The second makes the third independent of timing, so that one run over symbols shows it. Sets of
/// contributions are exact up to 64 ranks; beyond, sums of 64-bit numbers drawn per rank stand for
/// them, and a wrong set passes with a probability of about 2^-64.
std::optional<Defect> defect_of(const CollectiveSchedule& schedule);

/// The part of the proof that concerns `rank` alone, for `schedule_rank`s of schedules too large to
/// hold: form, reads before writes, conflicts, waits in a circle. `frame` gives the sizes of
/// buffers and is without ranks; `ranks` are those of the schedule.
std::optional<Defect> defect_of_rank(const CollectiveSchedule& frame, const RankSchedule& schedule,
                                     std::int32_t rank, std::int32_t ranks);

}  // namespace stepwright::collective
