#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "stepwright/simulate/timeline/score.h"

namespace stepwright::simulate {

inline constexpr double kNever = std::numeric_limits<double>::infinity();

/// Where the time of one stage went until its last operator ended. While the compute stream
/// computes: `compute_s` or `optimizer_s`, and what it loses by slow-down to the messages beside
/// it, in equal parts. While it stands still: to the message that its head waits for, be it that
/// message itself, one before it in its stream, or one that it waits for in turn; to the pipeline
/// while an awaited message is on its way from another stage; to the bubble before that and while a
/// collective waits for other stages; after its last operator to the messages still running, in
/// equal parts.
struct Account {
  double compute_s = 0;    ///< Computations of the compute stream, as priced.
  double optimizer_s = 0;  ///< Computations of the update, as priced.
  double bubble_s = 0;
  std::array<double, kSchemes> exposed_s{};
  // Priced seconds of what was played.
  double compute_busy_s = 0;
  std::array<double, kSchemes> communication_busy_s{};
  std::array<double, cost::kLinkClasses> link_busy_s{};

  /// Adds what was spent between two accounts of one stage.
  void add(const Account& before, const Account& after);
};

/// The lane that computes.
inline constexpr int kComputeLane = static_cast<int>(step::Stream::kCompute);

/// How fast the head of a queue runs.
struct Pace {
  double finish_s = 0;
  double remaining_s = 0;  ///< Priced seconds left at `since_s`.
  double since_s = 0;
  double stretch = 0;  ///< Seconds per priced second since then; 0: just started.
};

/// A queue: where it stands and what runs at its head.
struct Lane {
  Pace pace;
  Pace before;  ///< Pace until `pace.since_s`; `stretch` is 0 for a head that started then.
  double start_s = 0;
  double called_s = kNever;    ///< When the meeting in hand begins, then when it ends.
  const Task* task = nullptr;  ///< The task at the head.
  const Task* end = nullptr;   ///< One past the last task of the head's slot.
  const Wait* wait = nullptr;  ///< The first that the head has not seen met.
  std::int32_t slot = -1;
  std::int32_t receives = 0;  ///< Receives of the stage before the slot.
  std::int32_t sends = 0;
  std::array<std::int32_t, step::kStreams> base{};  ///< Tasks of each stream before the slot.
};

/// Where all queues of a stage stand.
struct Stand {
  double now_s = 0;  ///< The last instant that was played.
  std::array<Lane, step::kStreams> lanes;
  std::array<std::int32_t, step::kStreams> ended{};  ///< Tasks of each stream.
  std::array<std::int32_t, cost::kLinkClasses> on_link{};
  // Sets of streams.
  unsigned unfinished = 0;
  unsigned running = 0;
  unsigned computing = 0;  ///< Streams that run a computation.
  Account account;
};

}  // namespace stepwright::simulate
