#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "stepwright/simulate/timeline/simulation.h"
#include "stepwright/simulate/timeline/slot_memo.h"

namespace stepwright::simulate {

/// When a message from another stage was sent and arrives, in seconds; `kNever`: not known yet. The
/// simulation of the sending stage may be ahead of the receiving stage.
struct MessageArrival {
  double sent_s = kNever;
  double arrived_s = kNever;
};

/// The part of a compiled program that one stage runs, and what its simulation needs. All of it
/// must outlive the simulator of the stage.
struct StageTaskProgram {
  const FlatPricedProgram* score = nullptr;
  /// For each sequence of the stage (a forward or backward of a chunk), the index of its list of
  /// tasks in `FlatPricedProgram::tracks`.
  std::span<const std::int32_t> track_of;
  std::span<const step::PipelineScheduleSlot> schedule;
  /// Arrival times of the messages that the stage receives; written by the engine.
  std::span<const MessageArrival> arrivals;
  cost::OverlapSlowdownFactors contention;
  /// Cache of schedule entries that were simulated before, shared by the simulators of all stages;
  /// null: every task is simulated.
  SimulatedScheduleSlotCache* memo = nullptr;
};

/// Simulates one stage: eight in-order queues (streams), the task at the front of each, and the
/// sharing of links. Messages on one link class get equal shares of it. Computation runs at 1 /
/// factor beside messages; if both link classes are busy, the larger factor counts (both take turns
/// on one memory and its cores, so a product would count it twice). Computation does not slow
/// messages.
class StageSimulator {
 public:
  explicit StageSimulator(const StageTaskProgram& part);

  /// Simulates everything that happens at `next_event_s`: tasks that are due end, and tasks that
  /// can start do so. Appends news for other stages to `notices`.
  void simulate_events_at_next_time(std::vector<SimulatedStageNotice>& notices);
  /// Returns the next time, in seconds, at which something happens on this stage, as far as is
  /// known; `kNever`: nothing will.
  [[nodiscard]] double next_event_s() const { return next_s_; }
  /// True if a task at the front of a queue waits for another stage, and it is not known until
  /// when: that stage may still act on this one before `next_event_s`.
  [[nodiscard]] bool is_blocked_by_other_stage() const { return blocked_; }
  /// Returns the last time, in seconds, up to which the stage was simulated.
  [[nodiscard]] double simulated_until_s() const { return now_s_; }
  /// Tells a stream when the collective over several stages at the front of its queue begins (the
  /// last stage has reached it) or ends (the last stage is done).
  void call(int stream, double time_s) { lanes_[stream].called_s = time_s; }
  /// Checks the waits of this stage again; to be called after other stages have reported news.
  void recheck_stage_waits();

  [[nodiscard]] bool finished() const { return unfinished_ == 0; }
  [[nodiscard]] double end_s() const { return end_s_; }
  [[nodiscard]] double compute_end_s() const { return compute_end_s_; }
  [[nodiscard]] const StageTimeAccount& account() const { return account_; }

  /// Task at the front of a queue that cannot start, for error messages about a deadlock.
  struct BlockedQueueHead {
    std::int32_t slot = 0;
    const StreamTask* task = nullptr;
    /// First condition of the blocked task that is not fulfilled; nullptr if it waits in a
    /// collective over several stages.
    const TaskWaitCondition* wait = nullptr;
  };
  [[nodiscard]] BlockedQueueHead stuck() const;

  /// A task that has ended, with its times in seconds.
  struct EndedSimulatedTask {
    std::int32_t slot = 0;
    const StreamTask* task = nullptr;
    double start_s = 0;
    double end_s = 0;
  };
  /// Appends every task that ends from now on to the list `played`; null: records no tasks.
  void record_ended_tasks_in(std::vector<EndedSimulatedTask>* played) { played_ = played; }

 private:
  [[nodiscard]] const StreamTask& head(int s) const { return *lanes_[s].task; }
  void next_slot(int s);
  void new_head(int s);
  void check_watchers(int lane);
  [[nodiscard]] bool ready(int s);
  void start(int s, std::vector<SimulatedStageNotice>& notices);
  void begin(int s, std::vector<SimulatedStageNotice>& notices);
  void enter(int s);
  void leave(int s);
  void finish(int s, std::vector<SimulatedStageNotice>& notices);
  void end(const StreamQueueState& lane, const StreamTask& task);
  void end_due(std::vector<SimulatedStageNotice>& notices);
  void start_ready(std::vector<SimulatedStageNotice>& notices);
  void refresh();
  void play_alone();
  void set_pace(StreamQueueState& lane, double stretch) const;

  void tell(SimulatedStageNotice notice, std::vector<SimulatedStageNotice>& notices);
  [[nodiscard]] std::int32_t track_id(std::int32_t slot) const {
    return track_of_[schedule_[slot].sequence];
  }
  [[gnu::noinline]] bool play_again(std::vector<SimulatedStageNotice>& notices);
  [[gnu::noinline]] void keep_slot();
  [[nodiscard]] StageQueueStates stand() const;
  [[nodiscard]] bool stands_like(const SimulatedScheduleSlot& played) const;
  [[nodiscard]] bool stands_like(const StreamQueueState& lane, const StreamQueueState& other,
                                 const SimulatedScheduleSlot& played, bool runs) const;
  [[nodiscard]] bool waits_longer(const StreamQueueState& lane,
                                  const SimulatedScheduleSlot& played) const;
  void repeat(const SimulatedScheduleSlot& played, std::vector<SimulatedStageNotice>& notices);

  void spend_until(double now_s);
  void spend_idle(double from_s, double now_s);
  void spend_on_streams(unsigned streams, double seconds);
  void spend_on(const StreamTask& task, double seconds);

  const FlatPricedProgram& score_;
  std::span<const std::int32_t> track_of_;
  std::span<const step::PipelineScheduleSlot> schedule_;
  std::span<const MessageArrival> arrivals_;
  /// Factor by which computation slows down while a link class is busy.
  std::array<double, cost::kLinkClasses> beside_;

  std::array<StreamQueueState, step::kStreams> lanes_;
  /// Number of tasks of each stream that have ended so far.
  std::array<std::int32_t, step::kStreams> ended_{};
  std::array<std::int32_t, cost::kLinkClasses> on_link_{};
  // Sets of streams, one bit for each stream.
  unsigned unfinished_ = 0;
  unsigned waiting_ = 0;  ///< Set of streams (bits) whose front task waits for something.
  /// Set of streams (bits), among those that wait, whose wait may be over and must be checked.
  unsigned check_ = 0;
  struct Watch {
    unsigned streams = 0;  ///< Set of streams (bits) that wait for this stream, or for receives.
    /// Least number of ended tasks of the lane (stream, or arrivals) that a stream waits for.
    std::int32_t count = std::numeric_limits<std::int32_t>::max();
  };
  /// For each stream, and for receives: which streams wait for it.
  std::array<Watch, step::kStreams + 1> watches_;
  unsigned running_ = 0;
  unsigned computing_ = 0;  ///< Set of streams (bits) that run a computation.
  /// Set of streams (bits) that have reached a collective over several stages that has not begun.
  unsigned meeting_ = 0;
  /// Set of streams (bits) that are done in a collective over several stages that has not ended.
  unsigned held_ = 0;

  double now_s_ = 0;
  double own_next_s_ = kNever;  ///< Time in seconds when the first of the running tasks ends.
  double next_s_ = 0;
  bool blocked_ = false;
  /// Current slow-down of computation by messages: seconds per predicted second.
  double slow_ = 1;
  double end_s_ = 0;
  double compute_end_s_ = 0;
  StageTimeAccount account_;
  std::vector<EndedSimulatedTask>* played_ = nullptr;

  SimulatedScheduleSlotCache* memo_ = nullptr;
  /// True if the compute stream has reached a slot (schedule entry) whose computation it has not
  /// started.
  bool begins_slot_ = false;
  /// True while the current slot (schedule entry) is recorded in `slot_`.
  bool recording_ = false;
  SimulatedScheduleSlot slot_;
};

}  // namespace stepwright::simulate
