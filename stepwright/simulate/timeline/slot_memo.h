#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stepwright/simulate/timeline/stand.h"

namespace stepwright::simulate {

/// News of a stage for the other stages: written by a player, read by the engine.
struct StageNotice {
  enum class What : std::uint8_t { kSendBegan, kSendEnded, kReachedMeeting, kDoneInMeeting };
  What what{};
  std::int8_t stream = 0;
  plan::GroupKind group = plan::GroupKind::kNone;
  std::int32_t send = 0;  ///< For news of a send: its index among the stage's sends.
  double time_s = 0;
};

/// A record of how a stage went through one slot, from when its first computation had started to
/// when its last had ended. Micro-batches are alike: a stage (or another one with the same work)
/// that starts a slot in the same state goes through it in the same way.
struct SimulatedSlot {
  QueueStates before;
  QueueStates after;  ///< State after the slot, before anything starts at that instant.
  /// Streams whose heads wait in slots beyond those that the others reached, for more than happens
  /// in this slot.
  unsigned beyond = 0;
  std::int32_t first = 0;  ///< The first slot in which a stream was, counted from this one.
  std::vector<std::int32_t> tracks;  ///< Tracks of that slot and of the slots after it.
  /// A message that had arrived when it was needed.
  struct Needed {
    std::int32_t receive = 0;
    double time_s = 0;
  };
  std::vector<Needed> needed;
  std::vector<StageNotice> notices;
};

/// Recorded slots of one simulation, by their track: at most a few for each, since more would not
/// help where a stage never comes to the same state.
class SimulatedSlotCache {
 public:
  explicit SimulatedSlotCache(std::size_t tracks) : slots_(tracks) {}

  [[nodiscard]] const std::vector<SimulatedSlot>& of(std::int32_t track) const {
    return slots_[static_cast<std::size_t>(track)].played;
  }
  /// Adds a record; replaces the oldest where there are too many.
  void keep(std::int32_t track, SimulatedSlot&& slot);

 private:
  static constexpr std::size_t kMost = 8;
  struct OfTrack {
    std::vector<SimulatedSlot> played;
    std::size_t oldest = 0;
  };
  std::vector<OfTrack> slots_;
};

}  // namespace stepwright::simulate
