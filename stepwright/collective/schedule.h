#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/collective/wire.h"

namespace stepwright::collective {

/// Memory of a rank that a step can access: the caller's input (never written), the caller's
/// output, or the schedule's scratch memory.
enum class RankBufferKind : std::uint8_t { kInput, kOutput, kScratch };

/// Largest number of pieces in a buffer of a schedule.
inline constexpr std::uint32_t kMaxSchedulePiecesPerBuffer = (std::uint32_t{1} << 30) - 1;

/// First of several consecutive pieces (equal parts) of a buffer. Takes four bytes.
struct PieceRunStart {
  std::uint32_t piece : 30;
  RankBufferKind buffer : 2;

  bool operator==(const PieceRunStart&) const = default;
};

/// Operations that a step of a collective schedule can do with a run of pieces.
enum class CollectiveStepOperation : std::uint8_t {
  /// Sends the pieces `source` to rank `peer`; completed when `peer` has received them.
  kSend,
  kReceive,  ///< Receives pieces from rank `peer` into `target`.
  /// Receives pieces from rank `peer`, adds `source`, and stores the sum in `target`.
  kReceiveReduce,
  kCopy,    ///< Copies pieces of the rank's memory, from `source` to `target`.
  kReduce,  ///< Adds pieces of the rank's memory, `source`, to others, `target`.
};

/// One step of a collective schedule: an operation on a run of consecutive pieces. Takes twenty
/// bytes.
struct CollectiveScheduleStep {
  PieceRunStart source{};
  PieceRunStart target{};
  std::int32_t peer = -1;
  std::int32_t pieces = 1;  ///< Number of consecutive pieces on which the step works.
  CollectiveStepOperation kind{};

  bool operator==(const CollectiveScheduleStep&) const = default;
};

inline bool sends(const CollectiveScheduleStep& step) {
  return step.kind == CollectiveStepOperation::kSend;
}
inline bool receives(const CollectiveScheduleStep& step) {
  return step.kind == CollectiveStepOperation::kReceive ||
         step.kind == CollectiveStepOperation::kReceiveReduce;
}
inline bool reads(const CollectiveScheduleStep& step) {
  return step.kind != CollectiveStepOperation::kReceive;
}
inline bool writes(const CollectiveScheduleStep& step) {
  return step.kind != CollectiveStepOperation::kSend;
}

/// Identifies a step of a rank: its channel and its index in the channel.
struct CollectiveStepReference {
  std::int32_t channel = -1;  ///< Index of the channel; -1: no step.
  std::int32_t step = -1;

  [[nodiscard]] bool exists() const { return channel >= 0; }
  bool operator==(const CollectiveStepReference&) const = default;
};

/// Says that a step (number `step` of its channel) starts only when the step `on`, in another
/// channel of the same rank, is completed.
struct CollectiveStepDependency {
  std::int32_t step = 0;
  CollectiveStepReference on;

  bool operator==(const CollectiveStepDependency&) const = default;
};

/// A channel: steps of one rank that run one after the other. Channels run in parallel except for
/// waits. Messages between two ranks on one lane (a numbered connection) arrive in the order in
/// which they are sent, so all sends to a peer on a lane are in one channel, and so are all
/// receives from it.
struct RankStepSequence {
  std::uint8_t lane = 0;
  std::vector<CollectiveScheduleStep> steps;
  /// Waits of the channel's steps, in the order of the steps.
  std::vector<CollectiveStepDependency> waits;
};

/// All steps of one rank in a collective schedule.
struct RankCollectiveSchedule {
  std::vector<RankStepSequence> channels;
};

/// A collective operation as data: the steps of every rank, on pieces of equal size. The full
/// buffer (output of an all-gather, input of a reduce-scatter, either one for other operations) has
/// `pieces` pieces.
struct CollectiveSchedule {
  CollectiveOperation collective{};
  std::int32_t pieces = 0;
  std::int32_t input_pieces = 0;
  std::int32_t output_pieces = 0;
  /// Number of pieces (equal parts of the buffer) of scratch memory that each rank needs.
  std::int32_t scratch_pieces = 0;
  std::vector<RankCollectiveSchedule> ranks;
};

/// Returns the number of pieces that a buffer of each rank has.
std::int64_t piece_count_of_rank_buffer(const CollectiveSchedule& schedule, RankBufferKind buffer);

}  // namespace stepwright::collective
