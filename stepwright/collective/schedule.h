#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/collective/wire.h"

namespace stepwright::collective {

/// The memory of a rank that a step touches: what the caller gave, what the caller gets, and room
/// of the schedule's own. Inputs are never written.
enum class RankBuffer : std::uint8_t { kInput, kOutput, kScratch };

/// The largest number of a piece, and the most pieces of a buffer.
inline constexpr std::uint32_t kMostPieces = (std::uint32_t{1} << 30) - 1;

/// The first piece of a run in a buffer. Four bytes.
struct PieceRun {
  std::uint32_t piece : 30;
  RankBuffer buffer : 2;

  bool operator==(const PieceRun&) const = default;
};

/// The operation of a step on a run of pieces.
enum class StepKind : std::uint8_t {
  kSend,           ///< `source` to `peer`; over when the peer has it.
  kReceive,        ///< Receives from `peer` into `target`.
  kReceiveReduce,  ///< `target` = what comes from `peer` + `source`.
  kCopy,           ///< Sets `target` = `source`.
  kReduce,         ///< `target` = `target` + `source`.
};

/// One step of a channel. Twenty bytes.
struct ScheduleStep {
  PieceRun source{};
  PieceRun target{};
  std::int32_t peer = -1;
  std::int32_t pieces = 1;  ///< Length of the run.
  StepKind kind{};

  bool operator==(const ScheduleStep&) const = default;
};

inline bool sends(const ScheduleStep& step) { return step.kind == StepKind::kSend; }
inline bool receives(const ScheduleStep& step) {
  return step.kind == StepKind::kReceive || step.kind == StepKind::kReceiveReduce;
}
inline bool reads(const ScheduleStep& step) { return step.kind != StepKind::kReceive; }
inline bool writes(const ScheduleStep& step) { return step.kind != StepKind::kSend; }

/// A step of a rank: channel and position in it.
struct StepRef {
  std::int32_t channel = -1;  ///< Channel of the step; -1: no step.
  std::int32_t step = -1;

  [[nodiscard]] bool exists() const { return channel >= 0; }
  bool operator==(const StepRef&) const = default;
};

/// ScheduleStep `step` of a channel starts only after `on`, a step of another channel of the rank,
/// is over.
struct StepWait {
  std::int32_t step = 0;
  StepRef on;

  bool operator==(const StepWait&) const = default;
};

/// Steps of one rank that run one after the other. Channels run side by side but for their waits.
/// Messages of one lane between two ranks arrive in the order in which they are sent; all sends to
/// one peer on a lane stand in one channel, and so do all receives from it.
struct ScheduleChannel {
  std::uint8_t lane = 0;
  std::vector<ScheduleStep> steps;
  std::vector<StepWait> waits;  ///< Waits in the order of their steps.
};

/// The steps of one rank.
struct RankSchedule {
  std::vector<ScheduleChannel> channels;
};

/// A collective as data: what every rank does, in pieces of equal size. The full buffer (the output
/// of an all-gather, the input of a reduce-scatter, either of the others) has `pieces` of them.
struct CollectiveSchedule {
  Collective collective{};
  std::int32_t pieces = 0;
  std::int32_t input_pieces = 0;
  std::int32_t output_pieces = 0;
  std::int32_t scratch_pieces = 0;  ///< Scratch pieces of each rank.
  std::vector<RankSchedule> ranks;
};

/// Pieces of a buffer of `schedule`.
std::int64_t pieces_of(const CollectiveSchedule& schedule, RankBuffer buffer);

}  // namespace stepwright::collective
