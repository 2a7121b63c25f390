#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "stepwright/collective/schedule.h"

namespace stepwright::collective {

/// Return the first piece of a run in a buffer, for generators.
PieceRun input(std::int64_t piece);
PieceRun output(std::int64_t piece);
PieceRun scratch(std::int64_t piece);

/// Writes the schedule of one rank. Each lane has one channel of sends and one of receives; the
/// rank's own copies are on another channel, which is created with the first of them.
class RankWriter {
 public:
  explicit RankWriter(int lanes);

  StepRef send(int lane, std::int64_t peer, PieceRun source, std::int64_t pieces = 1);
  StepRef receive(int lane, std::int64_t peer, PieceRun target, std::int64_t pieces = 1);
  /// Appends a step that sets `target` = received pieces + `source`.
  StepRef receive_reduce(int lane, std::int64_t peer, PieceRun source, PieceRun target,
                         std::int64_t pieces = 1);
  StepRef copy(PieceRun source, PieceRun target, std::int64_t pieces = 1);

  /// Makes `step`, the last step of its channel, start after `on`. Has no effect if `on` does not
  /// exist, is on the same channel, or is completed because of an earlier wait.
  void wait(StepRef step, StepRef on);

  [[nodiscard]] RankSchedule take() { return std::move(rank_); }

 private:
  StepRef append(int channel, const ScheduleStep& step);

  RankSchedule rank_;
  int lanes_;
  /// For each channel and another channel that it has waited for: the number of the other channel's
  /// steps known to be completed.
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> over_;
};

}  // namespace stepwright::collective
