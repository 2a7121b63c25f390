#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "stepwright/collective/schedule.h"

namespace stepwright::collective {

/// The kinds of defects of a schedule.
enum class ScheduleDefectKind : std::uint8_t {
  kMalformed,  ///< A piece, peer, wait or buffer that does not exist, or a write to the input.
  kDeadlock,   ///< Steps that wait for each other, or for a message that no rank sends.
  kMismatch,   ///< A message whose ends differ in length.
  /// Messages on one lane between two ranks from two channels, so that their order is undefined.
  kAmbiguous,
  kUnwritten,  ///< A read of a piece that no step has written before.
  /// Two steps of a rank that access one piece in no defined order, of which one writes.
  kConflict,
  kTwice,        ///< A rank's contribution that is added to itself, so that it counts twice.
  kWrongResult,  ///< An output piece with another content than the collective requires.
};

/// The first defect of a schedule.
struct ScheduleDefect {
  ScheduleDefectKind kind{};
  std::int32_t rank = 0;
  StepRef at;        ///< Step with the defect; does not exist if no single step has it.
  std::string text;  ///< Explanation of the defect, for people.
};

/// Returns the first defect of a schedule. nullopt proves that, whatever the timing,
///
/// - the schedule ends, even if a send lasts until the peer receives (no buffering anywhere);
/// - every piece is written before it is read, and if two steps of a rank access one piece and one
///   of them writes, the rank's own channels and waits order them;
/// - every output piece is the sum of exactly the contributions that the collective requires, each
///   once, and of nothing else.
///
/// The second property makes the third independent of timing, so that one symbolic run proves it.
/// Sets of contributions are exact up to 64 ranks; for more ranks, sums of one random 64-bit number
/// per rank represent them, and a wrong set passes with a probability of about 2^-64.
std::optional<ScheduleDefect> find_schedule_defect(const CollectiveSchedule& schedule);

/// Returns the first defect that concerns `rank` alone, for `schedule_rank`s of schedules too large
/// to hold: malformed steps, reads before writes, conflicts, circular waits. `frame` gives the
/// sizes of buffers and has no ranks; `ranks`: number of ranks of the schedule.
std::optional<ScheduleDefect> find_rank_defect(const CollectiveSchedule& frame,
                                               const RankSchedule& schedule, std::int32_t rank,
                                               std::int32_t ranks);

}  // namespace stepwright::collective
