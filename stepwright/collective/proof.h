#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "stepwright/collective/schedule.h"

namespace stepwright::collective {

/// Kinds of defects that a collective schedule can have.
enum class CollectiveScheduleDefectKind : std::uint8_t {
  /// Defect: a step names a piece, peer, wait or buffer that does not exist, or writes to the
  /// input.
  kMalformed,
  kDeadlock,  ///< Defect: steps wait for each other, or for a message that no rank sends.
  kMismatch,  ///< Defect: the sender and the receiver of a message disagree about its length.
  /// Two channels of a rank send messages to one peer on the same lane (connection), so that their
  /// order is undefined.
  kAmbiguous,
  kUnwritten,  ///< A step reads a piece that no step has written before.
  /// Two steps of a rank access the same piece in no defined order, and one of them writes it.
  kConflict,
  kTwice,        ///< A rank's contribution is added to a sum that already contains it.
  kWrongResult,  ///< Defect: an output piece does not hold what the collective requires.
};

/// The first defect found in a collective schedule.
struct CollectiveScheduleDefect {
  CollectiveScheduleDefectKind kind{};
  std::int32_t rank = 0;
  /// The step with the defect; `exists()` is false if no single step has it.
  CollectiveStepReference at;
  std::string text;  ///< Explanation of the schedule's defect, for people.
};

/// Proves that a collective schedule is correct, whatever its timing: returns the first defect, or
/// nullopt if
///
/// - the schedule ends, even if a send lasts until its receive (no buffering anywhere);
/// - every piece is written before it is read, and if two steps of a rank access one piece and one
///   of them writes, the rank's own channels and waits order them;
/// - every output piece is the sum of exactly the contributions that the collective requires.
///
/// The second property makes the third independent of timing, so that one symbolic run proves it.
/// Sets of contributions are exact up to 64 ranks; for more ranks, a wrong set passes with a
/// probability of about 2^-64.
std::optional<CollectiveScheduleDefect> find_collective_schedule_defect(
    const CollectiveSchedule& schedule);

/// Returns the first defect in the steps of one rank (malformed steps, reads before writes,
/// conflicts, circular waits), for schedules too large to hold in memory; nullopt: none. `frame`:
/// the schedule's buffer sizes, without ranks. `ranks`: number of ranks of the schedule.
std::optional<CollectiveScheduleDefect> find_rank_schedule_defect(
    const CollectiveSchedule& frame, const RankCollectiveSchedule& schedule, std::int32_t rank,
    std::int32_t ranks);

}  // namespace stepwright::collective
