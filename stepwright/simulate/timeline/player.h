#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "stepwright/simulate/timeline/simulation.h"
#include "stepwright/simulate/timeline/slot_memo.h"

namespace stepwright::simulate {

/// When a message from another stage was sent and arrives, as far as its sender knows (`kNever`:
/// not yet); the simulation of a sender may be ahead of the receiver's.
struct MessageArrival {
  double sent_s = kNever;
  double arrived_s = kNever;
};

/// The part of a score that a player simulates: one stage. All of it must outlive the player.
struct StageScore {
  const FlatPricedProgram* score = nullptr;
  std::span<const std::int32_t> track_of;  ///< The track of each of the stage's sequences.
  std::span<const step::Slot> schedule;
  /// Arrivals at the stage's receives; written by the engine.
  std::span<const MessageArrival> arrivals;
  cost::Contention contention;
  /// Memo shared by the players of this score; null: every task is simulated.
  SimulatedSlotCache* memo = nullptr;
};

/// Simulates one stage: eight in-order queues, the tasks that run at their heads, and the rule that
/// shares links. Messages on one link class get equal shares of it. Computation runs at 1 / factor
/// beside messages; with both classes busy the larger factor counts (the two take turns on the same
/// memory and cores, so the product would count it twice). Messages are not slowed by computation.
class StageSimulator {
 public:
  explicit StageSimulator(const StageScore& part);

  /// Simulates everything that happens at `next_s`: tasks that are due end, and tasks that can
  /// start do start.
  void settle(std::vector<StageNotice>& notices);
  /// Returns the next instant at which something happens on this stage, as far as is known;
  /// `kNever`: nothing will.
  [[nodiscard]] double next_s() const { return next_s_; }
  /// True if a head waits for another stage, and it is not known until when: that stage may still
  /// act on this one before `next_s`.
  [[nodiscard]] bool blocked() const { return blocked_; }
  /// Returns the last instant that was simulated.
  [[nodiscard]] double now_s() const { return now_s_; }
  /// Tells a stream when the meeting at its head begins (the last stage has reached it) or ends
  /// (the last stage is done).
  void call(int stream, double time_s) { lanes_[stream].called_s = time_s; }
  /// Checks its waits again; to be called after other stages have reported news.
  void look();

  [[nodiscard]] bool finished() const { return unfinished_ == 0; }
  [[nodiscard]] double end_s() const { return end_s_; }
  [[nodiscard]] double compute_end_s() const { return compute_end_s_; }
  [[nodiscard]] const StageTimeAccount& account() const { return account_; }

  /// The head of a queue that holds the stage up, for messages about a deadlock.
  struct Head {
    std::int32_t slot = 0;
    const Task* task = nullptr;
    /// The first wait of the task that is not over; nullptr in a meeting.
    const Wait* wait = nullptr;
  };
  [[nodiscard]] Head stuck() const;

  /// A task that has ended, with its times.
  struct Played {
    std::int32_t slot = 0;
    const Task* task = nullptr;
    double start_s = 0;
    double end_s = 0;
  };
  /// From now on appends every task that ends to `played`; null: none.
  void record(std::vector<Played>* played) { played_ = played; }

 private:
  [[nodiscard]] const Task& head(int s) const { return *lanes_[s].task; }
  void next_slot(int s);
  void new_head(int s);
  void check_watchers(int lane);
  [[nodiscard]] bool ready(int s);
  void start(int s, std::vector<StageNotice>& notices);
  void begin(int s, std::vector<StageNotice>& notices);
  void enter(int s);
  void leave(int s);
  void finish(int s, std::vector<StageNotice>& notices);
  void end(const Lane& lane, const Task& task);
  void end_due(std::vector<StageNotice>& notices);
  void start_ready(std::vector<StageNotice>& notices);
  void refresh();
  void play_alone();
  void set_pace(Lane& lane, double stretch) const;

  void tell(StageNotice notice, std::vector<StageNotice>& notices);
  [[nodiscard]] std::int32_t track_id(std::int32_t slot) const {
    return track_of_[schedule_[slot].sequence];
  }
  [[gnu::noinline]] bool play_again(std::vector<StageNotice>& notices);
  [[gnu::noinline]] void keep_slot();
  [[nodiscard]] QueueStates stand() const;
  [[nodiscard]] bool stands_like(const SimulatedSlot& played) const;
  [[nodiscard]] bool stands_like(const Lane& lane, const Lane& other, const SimulatedSlot& played,
                                 bool runs) const;
  [[nodiscard]] bool waits_longer(const Lane& lane, const SimulatedSlot& played) const;
  void repeat(const SimulatedSlot& played, std::vector<StageNotice>& notices);

  void spend_until(double now_s);
  void spend_idle(double from_s, double now_s);
  void spend_on_streams(unsigned streams, double seconds);
  void spend_on(const Task& task, double seconds);

  const FlatPricedProgram& score_;
  std::span<const std::int32_t> track_of_;
  std::span<const step::Slot> schedule_;
  std::span<const MessageArrival> arrivals_;
  std::array<double, cost::kLinkClasses>
      beside_;  ///< Slow-down factor of computation while a link class is busy.

  std::array<Lane, step::kStreams> lanes_;
  /// Number of tasks of each stream that have ended.
  std::array<std::int32_t, step::kStreams> ended_{};
  std::array<std::int32_t, cost::kLinkClasses> on_link_{};
  // Sets of streams, one bit for each stream.
  unsigned unfinished_ = 0;
  unsigned waiting_ = 0;  ///< Set of streams whose head waits for something.
  unsigned check_ = 0;    ///< Streams in `waiting_` whose wait may be over.
  struct Watch {
    unsigned streams = 0;  ///< Streams that wait for this lane.
    /// Least count of ended tasks that one of these streams needs.
    std::int32_t count = std::numeric_limits<std::int32_t>::max();
  };
  std::array<Watch, step::kStreams + 1> watches_;  ///< Watches by the lane that is waited for.
  unsigned running_ = 0;
  unsigned computing_ = 0;  ///< Set of streams that run a computation.
  unsigned meeting_ = 0;    ///< Streams that have reached a meeting that has not begun.
  unsigned held_ = 0;       ///< Streams that are done in a meeting that has not ended.

  double now_s_ = 0;
  double own_next_s_ = kNever;  ///< When the first running task ends.
  double next_s_ = 0;
  bool blocked_ = false;
  double slow_ = 1;  ///< Present seconds per priced second of computation.
  double end_s_ = 0;
  double compute_end_s_ = 0;
  StageTimeAccount account_;
  std::vector<Played>* played_ = nullptr;

  SimulatedSlotCache* memo_ = nullptr;
  /// True if the compute stream has come to a slot that it has not begun.
  bool begins_slot_ = false;
  bool recording_ = false;  ///< True while this slot is recorded in `slot_`.
  SimulatedSlot slot_;
};

}  // namespace stepwright::simulate
