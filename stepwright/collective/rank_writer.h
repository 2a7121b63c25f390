#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "stepwright/collective/schedule.h"

namespace stepwright::collective {

/// Returns a reference to a piece (equal part) of a rank's input buffer, for a step of a
/// collective's schedule; `output` and `scratch` refer to pieces of the other two buffers.
PieceRunStart input_piece(std::int64_t piece);
PieceRunStart output(std::int64_t piece);
PieceRunStart scratch(std::int64_t piece);

/// Builds the schedule of one rank step by step. Each lane (a connection with its own order of
/// messages) has a channel of sends and one of receives; copies within the rank are on a channel of
/// their own.
class RankCollectiveScheduleWriter {
 public:
  explicit RankCollectiveScheduleWriter(int lanes);

  CollectiveStepReference send(int lane, std::int64_t peer, PieceRunStart source,
                               std::int64_t pieces = 1);
  CollectiveStepReference receive(int lane, std::int64_t peer, PieceRunStart target,
                                  std::int64_t pieces = 1);
  /// Appends a step that receives pieces from `peer`, adds `source` and stores the sum in `target`.
  CollectiveStepReference append_receive_and_add(int lane, std::int64_t peer, PieceRunStart source,
                                                 PieceRunStart target, std::int64_t pieces = 1);
  CollectiveStepReference copy(PieceRunStart source, PieceRunStart target, std::int64_t pieces = 1);

  /// Makes `step`, the last step of its channel, wait until the step `on` is completed. Has no
  /// effect if `on` does not exist, is on the same channel, or was already waited for.
  void add_step_dependency(CollectiveStepReference step, CollectiveStepReference on);

  [[nodiscard]] RankCollectiveSchedule take() { return std::move(rank_); }

 private:
  CollectiveStepReference append(int channel, const CollectiveScheduleStep& step);

  RankCollectiveSchedule rank_;
  int lanes_;
  /// For each channel of the rank and each other channel: how many steps of the other channel it
  /// knows to be completed, because it has waited for them.
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> over_;
};

}  // namespace stepwright::collective
