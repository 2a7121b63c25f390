#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "stepwright/collective/schedule.h"

namespace stepwright::collective {

/// The first piece of a run, for generators.
PieceRun input(std::int64_t piece);
PieceRun output(std::int64_t piece);
PieceRun scratch(std::int64_t piece);

/// Writes the schedule of one rank. Each lane has a channel of sends and one of receives; a rank's
/// own copies stand on a channel of their own, which appears when the first one is written.
class RankWriter {
 public:
  explicit RankWriter(int lanes);

  StepRef send(int lane, std::int64_t peer, PieceRun source, std::int64_t pieces = 1);
  StepRef receive(int lane, std::int64_t peer, PieceRun target, std::int64_t pieces = 1);
  /// `target` = what comes + `source`.
  StepRef receive_reduce(int lane, std::int64_t peer, PieceRun source, PieceRun target,
                         std::int64_t pieces = 1);
  StepRef copy(PieceRun source, PieceRun target, std::int64_t pieces = 1);

  /// `step`, the last one of its channel, starts after `on`. Nothing to do when `on` does not
  /// exist, stands in the same channel, or is over because of an earlier wait.
  void wait(StepRef step, StepRef on);

  [[nodiscard]] RankSchedule take() { return std::move(rank_); }

 private:
  StepRef append(int channel, const ScheduleStep& step);

  RankSchedule rank_;
  int lanes_;
  /// The number of steps that are over, by a channel and one that it waited for: steps of the
  /// latter that are over.
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> over_;
};

}  // namespace stepwright::collective
