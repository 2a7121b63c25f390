#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stepwright/simulate/timeline/stand.h"

namespace stepwright::simulate {

/// News that the other stages must hear: filled by a player, read by the engine.
struct Notice {
  enum class What : std::uint8_t { kSendBegan, kSendEnded, kReachedMeeting, kDoneInMeeting };
  What what{};
  std::int8_t stream = 0;
  plan::GroupKind group = plan::GroupKind::kNone;
  std::int32_t send = 0;  ///< Which of the stage's sends.
  double time_s = 0;
};

/// How a stage went through one slot, from when its first computation had started to when its last
/// had ended. Micro-batches are alike: a stage, or another with the same work, that stands before a
/// slot as this one stood goes through it in the same way.
struct PlayedSlot {
  Stand before;
  Stand after;  ///< State after the slot, before anything starts at that instant.
  /// Streams whose heads wait in slots behind those that the others came to, for more than happens.
  unsigned beyond = 0;
  std::int32_t first = 0;            ///< The first slot that a stream stood in, from this one.
  std::vector<std::int32_t> tracks;  ///< Tracks of that slot and of those after it.
  /// Messages that were there when they were needed.
  struct Needed {
    std::int32_t receive = 0;
    double time_s = 0;
  };
  std::vector<Needed> needed;
  std::vector<Notice> notices;
};

/// Slots that were played in one simulation, by their track. A handful of each: where a stage never
/// stands the same way, more would not help.
class SlotMemo {
 public:
  explicit SlotMemo(std::size_t tracks) : slots_(tracks) {}

  [[nodiscard]] const std::vector<PlayedSlot>& of(std::int32_t track) const {
    return slots_[static_cast<std::size_t>(track)].played;
  }
  /// Takes the place of the oldest where there are too many.
  void keep(std::int32_t track, PlayedSlot&& slot);

 private:
  static constexpr std::size_t kMost = 8;
  struct OfTrack {
    std::vector<PlayedSlot> played;
    std::size_t oldest = 0;
  };
  std::vector<OfTrack> slots_;
};

}  // namespace stepwright::simulate
