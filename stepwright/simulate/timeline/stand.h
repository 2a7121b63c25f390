#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "stepwright/simulate/timeline/score.h"

namespace stepwright::simulate {

inline constexpr double kNever = std::numeric_limits<double>::infinity();

/// Where the time of one stage went until its last operator ended. While the compute stream
/// computes, time is booked to `compute_s` or `optimizer_s`, and its slow-down to the messages
/// beside it, in equal parts. While the compute stream waits, time is booked to the message that
/// its head waits for: that message itself, one before it in its stream, or one that this waits for
/// in turn; to the pipeline scheme while an awaited message is on its way from another stage; to
/// the bubble before that, and while a collective waits for other stages. After its last operator,
/// time is booked to the messages still running, in equal parts.
struct StageTimeAccount {
  double compute_s = 0;    ///< Computation of the compute stream, in priced seconds.
  double optimizer_s = 0;  ///< Computation of the optimizer update, in priced seconds.
  double bubble_s = 0;
  std::array<double, kSchemes> exposed_s{};
  // Priced seconds of the tasks that were simulated.
  double compute_busy_s = 0;
  std::array<double, kSchemes> communication_busy_s{};
  std::array<double, cost::kLinkClasses> link_busy_s{};

  /// Adds the time booked between two accounts of one stage.
  void add(const StageTimeAccount& before, const StageTimeAccount& after);
};

/// The index of the lane of the compute stream.
inline constexpr int kComputeLane = static_cast<int>(step::Stream::kCompute);

/// How fast the head of a queue runs.
struct QueueRate {
  double finish_s = 0;
  double remaining_s = 0;  ///< Priced seconds left at `since_s`.
  double since_s = 0;
  double stretch = 0;  ///< Seconds per priced second since `since_s`; 0: just started.
};

/// A queue: its position in the schedule, and the task that runs at its head.
struct Lane {
  QueueRate pace;
  /// The pace before `pace.since_s`; its `stretch` is 0 for a head that started then.
  QueueRate before;
  double start_s = 0;
  double called_s = kNever;    ///< When the present meeting begins; once begun, when it ends.
  const Task* task = nullptr;  ///< The task at the head of the queue.
  const Task* end = nullptr;   ///< One past the last task of the head's slot.
  const Wait* wait = nullptr;  ///< The first wait of the head that is not known to be over.
  std::int32_t slot = -1;
  std::int32_t receives = 0;  ///< Number of the stage's receives before the slot.
  std::int32_t sends = 0;
  /// Number of tasks of each stream before the slot.
  std::array<std::int32_t, step::kStreams> base{};
};

/// The state of all queues of a stage.
struct QueueStates {
  double now_s = 0;  ///< The last instant that was simulated.
  std::array<Lane, step::kStreams> lanes;
  /// Number of tasks of each stream that have ended.
  std::array<std::int32_t, step::kStreams> ended{};
  std::array<std::int32_t, cost::kLinkClasses> on_link{};
  // Sets of streams, one bit for each stream.
  unsigned unfinished = 0;
  unsigned running = 0;
  unsigned computing = 0;  ///< Set of streams that run a computation.
  StageTimeAccount account;
};

}  // namespace stepwright::simulate
