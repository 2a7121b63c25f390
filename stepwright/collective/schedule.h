#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/collective/wire.h"

namespace stepwright::collective {

/// A rank's memory that a step accesses: the caller's input, the caller's output, or scratch memory
/// of the schedule. Inputs are never written.
enum class RankBuffer : std::uint8_t { kInput, kOutput, kScratch };

/// Largest index of a piece, and largest number of pieces in a buffer.
inline constexpr std::uint32_t kMostPieces = (std::uint32_t{1} << 30) - 1;

/// The first piece of a run of consecutive pieces in a buffer. Four bytes.
struct PieceRun {
  std::uint32_t piece : 30;
  RankBuffer buffer : 2;

  bool operator==(const PieceRun&) const = default;
};

/// The operation of a step on a run of pieces.
enum class StepKind : std::uint8_t {
  kSend,           ///< Sends `source` to `peer`; completed when the peer has received it.
  kReceive,        ///< Receives from `peer` into `target`.
  kReceiveReduce,  ///< Sets `target` = pieces received from `peer` + `source`.
  kCopy,           ///< Sets `target` = `source`.
  kReduce,         ///< Adds `source` to `target`.
};

/// One step of a channel: an operation on a run of pieces. Twenty bytes.
struct ScheduleStep {
  PieceRun source{};
  PieceRun target{};
  std::int32_t peer = -1;
  std::int32_t pieces = 1;  ///< Number of pieces in the run.
  StepKind kind{};

  bool operator==(const ScheduleStep&) const = default;
};

inline bool sends(const ScheduleStep& step) { return step.kind == StepKind::kSend; }
inline bool receives(const ScheduleStep& step) {
  return step.kind == StepKind::kReceive || step.kind == StepKind::kReceiveReduce;
}
inline bool reads(const ScheduleStep& step) { return step.kind != StepKind::kReceive; }
inline bool writes(const ScheduleStep& step) { return step.kind != StepKind::kSend; }

/// Reference to a step of a rank: its channel and its index in the channel.
struct StepRef {
  std::int32_t channel = -1;  ///< Channel of the step; -1: no step.
  std::int32_t step = -1;

  [[nodiscard]] bool exists() const { return channel >= 0; }
  bool operator==(const StepRef&) const = default;
};

/// A wait: step `step` of a channel starts only after `on`, a step of another channel of the same
/// rank, is completed.
struct StepWait {
  std::int32_t step = 0;
  StepRef on;

  bool operator==(const StepWait&) const = default;
};

/// Steps of one rank that run one after the other. Channels run in parallel except for their waits.
/// Messages on one lane between two ranks arrive in the order in which they are sent; all sends to
/// one peer on a lane are on one channel, and so are all receives from it.
struct ScheduleChannel {
  std::uint8_t lane = 0;
  std::vector<ScheduleStep> steps;
  std::vector<StepWait> waits;  ///< Waits in the order of their steps.
};

/// The steps of one rank.
struct RankSchedule {
  std::vector<ScheduleChannel> channels;
};

/// A collective as data: the steps of every rank, in pieces of equal size. The full buffer (the
/// output of an all-gather, the input of a reduce-scatter, either of them for other operations) has
/// `pieces` pieces.
struct CollectiveSchedule {
  Collective collective{};
  std::int32_t pieces = 0;
  std::int32_t input_pieces = 0;
  std::int32_t output_pieces = 0;
  std::int32_t scratch_pieces = 0;  ///< Scratch pieces of each rank.
  std::vector<RankSchedule> ranks;
};

/// Number of pieces of a buffer of `schedule`.
std::int64_t pieces_of(const CollectiveSchedule& schedule, RankBuffer buffer);

}  // namespace stepwright::collective
