#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "stepwright/simulate/timeline/prices.h"

namespace stepwright::simulate {

inline constexpr int kSchemes = 7;

/// How the player treats a task.
enum class Role : std::uint8_t {
  kComputation,
  kMessage,
  kSend,
  kMeeting,  ///< A collective over several stages: it starts when all have reached it.
};

/// One wait of a task. Because streams run in order, "operator x has ended" is "as many tasks of
/// its stream have ended since the slot began". Receives are in no queue and are waited for one by
/// one.
struct Wait {
  std::int32_t lane = 0;  ///< Index of a `step::Stream`, or kArrivals.
  /// Number of tasks of the lane that must have ended since the slot's start; for kArrivals the
  /// index of the receive.
  std::int32_t count = 0;
};
inline constexpr int kArrivals = step::kStreams;

/// Value of `Task::operation` for a task that only waits.
inline constexpr std::int32_t kNoOperation = -1;

/// One entry of a queue: an operator, or several computations that no other stream can tell apart.
struct Task {
  double seconds = 0;
  std::int32_t first_wait = 0;  ///< Index of its first wait in `FlatPricedProgram::waits`.
  std::int32_t last_wait = 0;   ///< Index past its last wait in `FlatPricedProgram::waits`.
  std::int32_t item = 0;        ///< Index of its item in the sequence.
  std::int32_t operation = 0;  ///< Index of its operator in the item's template, or `kNoOperation`.
  Role role = Role::kComputation;
  cost::LinkClass link = cost::LinkClass::kNone;
  step::Scheme scheme = step::Scheme::kNone;
  plan::GroupKind group = plan::GroupKind::kNone;
  bool optimizer = false;  ///< True for computations of the optimizer update.
  std::int16_t send = 0;   ///< For kSend: index among the sequence's sends.
};

/// One end of a message between stages.
struct MessageEnd {
  std::int32_t item = 0;
  std::int32_t operation = 0;
  bool backward = false;
};

/// A sequence as queues: in a slot, stream s runs the tasks first[s] ... first[s] + count[s] - 1.
struct Track {
  std::array<std::int32_t, step::kStreams> first{};
  std::array<std::int32_t, step::kStreams> count{};
  std::int32_t first_receive = 0;  ///< Index of its first receive in `FlatPricedProgram::receives`.
  std::int32_t receives = 0;
  std::int32_t first_send = 0;  ///< Index of its first send in `FlatPricedProgram::sends`.
  std::int32_t sends = 0;
};

/// A priced program as flat arrays, which the player simulates. Slots share the tracks of their
/// sequences.
struct FlatPricedProgram {
  std::vector<Task> tasks;
  std::vector<Wait> waits;
  std::vector<MessageEnd> receives;
  std::vector<MessageEnd> sends;
  /// The tracks; sequences that run the same tasks share one.
  std::vector<Track> tracks;
  /// For each stage, the track of each of its sequences.
  std::vector<std::vector<std::int32_t>> track_of;
};

}  // namespace stepwright::simulate
