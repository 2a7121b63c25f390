#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stepwright/simulate/timeline/stand.h"

namespace stepwright::simulate {

/// News that one simulated pipeline stage sends to the others, such as that a send has ended.
struct SimulatedStageNotice {
  enum class What : std::uint8_t { kSendBegan, kSendEnded, kReachedMeeting, kDoneInMeeting };
  What what{};
  std::int8_t stream = 0;
  plan::CommunicatorKind group = plan::CommunicatorKind::kNone;
  /// Index of the send among all sends of the stage, if the notice is about a send (it began or
  /// ended).
  std::int32_t send = 0;
  double time_s = 0;
};

/// Record of how a simulated stage went through one slot (schedule entry), from the start of its
/// first computation to the end of its last. A stage that starts a slot in an equal state goes
/// through it in an equal way, so the record replaces a simulation.
struct SimulatedScheduleSlot {
  StageQueueStates before;
  /// State of the stage after the slot (schedule entry), before any task starts at that time.
  StageQueueStates after;
  /// Set of streams (bits) whose front task waits, in a later slot than other streams reach, for
  /// something that does not happen in the recorded slot.
  unsigned beyond = 0;
  /// Earliest slot (schedule entry) in which any stream was, as an offset from the recorded slot; 0
  /// or negative.
  std::int32_t first = 0;
  /// Indices of the task lists (tracks) of the schedule entries on which the record depends, from
  /// the earliest entry on.
  std::vector<std::int32_t> tracks;
  /// A received message that had arrived when the recorded slot needed it, and when that was.
  struct NeededSlotMessage {
    std::int32_t receive = 0;
    double time_s = 0;
  };
  std::vector<NeededSlotMessage> needed;
  std::vector<SimulatedStageNotice> notices;
};

/// Cache of recorded slots (schedule entries) of one simulation, by their list of tasks (track): at
/// most a few for each, since more do not help if a stage never returns to an equal state.
class SimulatedScheduleSlotCache {
 public:
  explicit SimulatedScheduleSlotCache(std::size_t tracks) : slots_(tracks) {}

  [[nodiscard]] const std::vector<SimulatedScheduleSlot>& of(std::int32_t track) const {
    return slots_[static_cast<std::size_t>(track)].played;
  }
  /// Adds a recorded slot (schedule entry) whose tasks are the list `track`; replaces the oldest
  /// record of that list if there are too many.
  void record_simulated_slot(std::int32_t track, SimulatedScheduleSlot&& slot);

 private:
  static constexpr std::size_t kMost = 8;
  struct OfTrack {
    std::vector<SimulatedScheduleSlot> played;
    std::size_t oldest = 0;
  };
  std::vector<OfTrack> slots_;
};

}  // namespace stepwright::simulate
