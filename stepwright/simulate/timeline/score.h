#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "stepwright/simulate/timeline/prices.h"

namespace stepwright::simulate {

inline constexpr int kSchemes = 7;

/// How the simulator treats a task of a stream.
enum class TaskRole : std::uint8_t {
  kComputation,
  kMessage,
  kSend,
  kMeeting,  ///< A collective over several stages: it starts when all of them have reached it.
};

/// One condition that a task waits for. Because streams run in order, "operator x has ended" is "so
/// many tasks of its stream have ended since the slot (schedule entry) began". Receives are in no
/// queue; each is waited for on its own.
struct TaskWaitCondition {
  /// Index of the `step::DeviceStream` that is waited for, or kArrivals for a receive.
  std::int32_t lane = 0;
  /// Number of tasks of the lane that must have ended since the start of the slot (schedule entry);
  /// for kArrivals the index of the receive.
  std::int32_t count = 0;
};
inline constexpr int kArrivals = step::kStreams;

/// Value of `StreamTask::operation` for a task that is no operator and only waits.
inline constexpr std::int32_t kWaitOnlyTaskOperation = -1;

/// One entry of a stream's queue: an operator, or several computations that no other stream can
/// tell apart.
struct StreamTask {
  double seconds = 0;
  std::int32_t first_wait = 0;  ///< Index of the task's first wait in `FlatPricedProgram::waits`.
  /// Index one past the task's last wait in `FlatPricedProgram::waits`.
  std::int32_t last_wait = 0;
  /// Index of the template to which the task's operator belongs, within the sequence of a forward
  /// or backward.
  std::int32_t item = 0;
  /// Index of the task's operator in the template of its item, or `kWaitOnlyTaskOperation`.
  std::int32_t operation = 0;
  TaskRole role = TaskRole::kComputation;
  cost::LinkClass link = cost::LinkClass::kNone;
  step::ParallelismScheme scheme = step::ParallelismScheme::kNone;
  plan::CommunicatorKind group = plan::CommunicatorKind::kNone;
  bool optimizer = false;  ///< True for computations of the optimizer update.
  std::int16_t send = 0;   ///< For role kSend: index of the send among those of the sequence.
};

/// One end, send or receive, of a message between stages.
struct MessageEnd {
  std::int32_t item = 0;
  std::int32_t operation = 0;
  bool backward = false;
};

/// The tasks of a sequence by stream: stream s runs the tasks first[s] ... first[s] + count[s] - 1.
struct TemplateSequenceTasks {
  std::array<std::int32_t, step::kStreams> first{};
  std::array<std::int32_t, step::kStreams> count{};
  /// Index of the sequence's first receive in `FlatPricedProgram::receives`.
  std::int32_t first_receive = 0;
  std::int32_t receives = 0;
  /// Index of the sequence's first send in `FlatPricedProgram::sends`.
  std::int32_t first_send = 0;
  std::int32_t sends = 0;
};

/// A priced step program as flat arrays of tasks, waits and messages, which the simulator runs. All
/// schedule entries with equal operators share one list of tasks by stream (track).
struct FlatPricedProgram {
  std::vector<StreamTask> tasks;
  std::vector<TaskWaitCondition> waits;
  std::vector<MessageEnd> receives;
  std::vector<MessageEnd> sends;
  /// For each distinct sequence (forward or backward of a chunk), its tasks by stream; sequences
  /// that run equal tasks share one entry.
  std::vector<TemplateSequenceTasks> tracks;
  /// For each stage and each of its sequences (forwards, backwards), the index in `tracks` of its
  /// tasks: [stage][sequence].
  std::vector<std::vector<std::int32_t>> track_of;
};

}  // namespace stepwright::simulate
