#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "stepwright/simulate/timeline/score.h"

namespace stepwright::simulate {

inline constexpr double kNever = std::numeric_limits<double>::infinity();

/// Where the time of one stage went until its last operator ended. While the compute stream
/// computes, time counts as `compute_s` or `optimizer_s`, and its slow-down as exposed time of the
/// messages beside it, in equal parts. While it waits, time counts for the message that it waits
/// for, directly or through other waits; as pipeline time while an awaited message is on its way
/// from another stage; as bubble before that, and while a collective waits for other stages. After
/// the last computation, time counts for the messages still running, in equal parts.
struct StageTimeAccount {
  /// Predicted seconds (without slow-down) of computation on the compute stream, without the
  /// optimizer update.
  double compute_s = 0;
  /// Predicted seconds (without slow-down) of computation of the optimizer update.
  double optimizer_s = 0;
  double bubble_s = 0;
  std::array<double, kSchemes> exposed_s{};
  // Priced seconds of the tasks that were simulated.
  double compute_busy_s = 0;
  std::array<double, kSchemes> communication_busy_s{};
  std::array<double, cost::kLinkClasses> link_busy_s{};

  /// Adds the time that passed between two states of a stage's account: `after` less `before`.
  void add(const StageTimeAccount& before, const StageTimeAccount& after);
};

/// Index of the compute stream among the queues of a stage.
inline constexpr int kComputeQueueIndex = static_cast<int>(step::DeviceStream::kCompute);

/// How fast the task at the front of a queue runs.
struct QueueFrontTaskRate {
  double finish_s = 0;
  /// Predicted seconds of work (without slow-down) left at time `since_s`.
  double remaining_s = 0;
  double since_s = 0;
  /// Slow-down since `since_s`: seconds per predicted second; 0: the task has just started.
  double stretch = 0;
};

/// State of one stream's queue: how far it is in the schedule, and its front task.
struct StreamQueueState {
  QueueFrontTaskRate pace;
  /// Rate of the front task before its latest change of speed (at `pace.since_s`); `stretch` is 0
  /// if the task started then.
  QueueFrontTaskRate before;
  double start_s = 0;
  /// When the current collective over several stages begins or, once begun, ends, in seconds.
  double called_s = kNever;
  const StreamTask* task = nullptr;  ///< The task at the front of the queue.
  /// Pointer one past the last task of the queue's current schedule entry.
  const StreamTask* end = nullptr;
  /// The first wait of the front task that is not known to be over.
  const TaskWaitCondition* wait = nullptr;
  std::int32_t slot = -1;
  /// Number of receives in the stage's schedule before the current schedule entry.
  std::int32_t receives = 0;
  std::int32_t sends = 0;
  /// For each stream, the number of its tasks before the current schedule entry.
  std::array<std::int32_t, step::kStreams> base{};
};

/// The state of all queues of a simulated stage.
struct StageQueueStates {
  double now_s = 0;  ///< The last time, in seconds, up to which the stage was simulated.
  std::array<StreamQueueState, step::kStreams> lanes;
  /// For each stream, the number of its tasks that have ended so far.
  std::array<std::int32_t, step::kStreams> ended{};
  std::array<std::int32_t, cost::kLinkClasses> on_link{};
  // Sets of streams, one bit for each stream.
  unsigned unfinished = 0;
  unsigned running = 0;
  unsigned computing = 0;  ///< Set of streams (bits) that run a computation.
  StageTimeAccount account;
};

}  // namespace stepwright::simulate
