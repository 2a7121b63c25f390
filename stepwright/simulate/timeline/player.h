#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "stepwright/simulate/timeline/score.h"
#include "stepwright/simulate/timeline/simulation.h"

namespace stepwright {

inline constexpr double kNever = std::numeric_limits<double>::infinity();

/// When a message from another stage is on its way, as far as its sender knows; a sender may be
/// ahead of the receiver.
struct Arrival {
  double sent_s = kNever;
  double arrived_s = kNever;
};

/// What the other stages must hear of: filled by a player, read by the engine.
struct Notice {
  enum class What : std::uint8_t { kSendBegan, kSendEnded, kReachedMeeting, kDoneInMeeting };
  What what{};
  std::int8_t stream = 0;
  GroupKind group = GroupKind::kNone;
  std::int32_t send = 0;  ///< Which of the stage's sends.
};

/// Where the time of one stage went until its last operator ended. While the compute stream
/// computes: `compute_s` or `optimizer_s`, and what it loses by slow-down to the messages beside
/// it, in equal parts. While it stands still: to the message that its head waits for, be it that
/// message itself, one before it in its stream, or one that it waits for in turn; to the pipeline
/// while an awaited message is on its way from another stage; to the bubble before that and while a
/// collective waits for other stages; after its last operator to the messages still running, in
/// equal parts.
struct Account {
  double compute_s = 0;    ///< Computations of the compute stream, as priced.
  double optimizer_s = 0;  ///< The same, of the update.
  double bubble_s = 0;
  std::array<double, kSchemes> exposed_s{};
  // Priced seconds of what was played.
  double compute_busy_s = 0;
  std::array<double, kSchemes> communication_busy_s{};
  std::array<double, kLinkClasses> link_busy_s{};
};

/// The lane that computes.
inline constexpr int kComputeLane = static_cast<int>(Stream::kCompute);

/// What a player plays. All of it must outlive the player.
struct StageScore {
  const Score* score = nullptr;
  std::span<const Track> tracks;  ///< Of the stage's sequences.
  std::span<const Slot> schedule;
  std::span<const Arrival> arrivals;  ///< Of the stage's receives; written by the engine.
  Contention contention;
};

/// One stage: eight in-order queues, what runs at the head of each, and the fluid rule. The
/// messages on one link class get an even share of it each; computation runs at 1 / factor beside
/// them, the larger factor when both classes are busy (the two take turns on the same memory and
/// cores, so the product would count it twice). Messages are not slowed by computation.
class Player {
 public:
  explicit Player(const StageScore& part);

  /// Plays all that happens at `next_s`: what is due ends, what can start starts.
  void settle(std::vector<Notice>& notices);
  /// The next instant at which something happens here, as far as is known; `kNever`: nothing.
  [[nodiscard]] double next_s() const { return next_s_; }
  /// True if a head waits for another stage that has not said until when: that stage may still act
  /// on this one before `next_s`.
  [[nodiscard]] bool blocked() const { return blocked_; }
  /// The last instant that was played.
  [[nodiscard]] double now_s() const { return now_s_; }
  /// When the meeting that a head has reached begins, or the one that it is done with ends: when
  /// the last stage has reached it, or is done.
  void call(int stream, double time_s) { lanes_[stream].called_s = time_s; }
  /// Looks again at what it waits for: to be called when other stages have said more.
  void look();

  [[nodiscard]] bool finished() const { return unfinished_ == 0; }
  [[nodiscard]] double end_s() const { return end_s_; }
  [[nodiscard]] double compute_end_s() const { return compute_end_s_; }
  [[nodiscard]] const Account& account() const { return account_; }

  /// The head that holds the stage up, for messages about a deadlock.
  struct Head {
    std::int32_t slot = 0;
    const Task* task = nullptr;
    const Wait* wait = nullptr;  ///< What it waits for first; nullptr in a meeting.
  };
  [[nodiscard]] Head stuck() const;

  /// A task that has ended.
  struct Played {
    std::int32_t slot = 0;
    const Task* task = nullptr;
    double start_s = 0;
    double end_s = 0;
  };
  /// From now on, appends every task that ends.
  void record(std::vector<Played>* played) { played_ = played; }

 private:
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
    Pace before;  ///< Until `pace.since_s`; `stretch` is 0 for a head that started then.
    double start_s = 0;
    double called_s = kNever;    ///< When the meeting in hand begins, then when it ends.
    const Task* task = nullptr;  ///< The head.
    const Task* end = nullptr;   ///< Of its slot.
    const Wait* wait = nullptr;  ///< The first that the head has not seen met.
    std::int32_t slot = -1;
    std::int32_t receives = 0;  ///< Of the stage before the slot.
    std::int32_t sends = 0;
    std::array<std::int32_t, kStreams> base{};  ///< Tasks of each stream before the slot.
  };

  [[nodiscard]] const Task& head(int s) const { return *lanes_[s].task; }
  void next_slot(int s);
  void new_head(int s);
  void check_watchers(int lane);
  [[nodiscard]] bool ready(int s);
  void start(int s, std::vector<Notice>& notices);
  void begin(int s, std::vector<Notice>& notices);
  void enter(int s);
  void leave(int s);
  void finish(int s, std::vector<Notice>& notices);
  void end(const Lane& lane, const Task& task);
  void end_due(std::vector<Notice>& notices);
  void start_ready(std::vector<Notice>& notices);
  void refresh();
  void play_alone(bool heard);
  void set_pace(Lane& lane, double stretch) const;

  void spend_until(double now_s);
  void spend_idle(double from_s, double now_s);
  void spend_on_streams(unsigned streams, double seconds);
  void spend_on(const Task& task, double seconds);

  const Score& score_;
  std::span<const Track> tracks_;
  std::span<const Slot> schedule_;
  std::span<const Arrival> arrivals_;
  std::array<double, kLinkClasses> beside_;  ///< Factor on computation while the class is busy.

  std::array<Lane, kStreams> lanes_;
  std::array<std::int32_t, kStreams> ended_{};  ///< Tasks of each stream.
  std::array<std::int32_t, kLinkClasses> on_link_{};
  // Sets of streams.
  unsigned unfinished_ = 0;
  unsigned waiting_ = 0;  ///< The head waits for its `waits`.
  unsigned check_ = 0;    ///< Of those: what it waits for may have happened.
  struct Watch {
    unsigned streams = 0;  ///< Of those that wait: for this lane.
    std::int32_t count = std::numeric_limits<std::int32_t>::max();  ///< The least they need.
  };
  std::array<Watch, kStreams + 1> watches_;  ///< Per lane that is waited for.
  unsigned running_ = 0;
  unsigned computing_ = 0;  ///< Runs a computation.
  unsigned meeting_ = 0;    ///< Has reached a meeting that has not begun.
  unsigned held_ = 0;       ///< Done in a meeting that has not ended.

  double now_s_ = 0;
  double own_next_s_ = kNever;  ///< When the first of what runs ends.
  double next_s_ = 0;
  bool blocked_ = false;
  double slow_ = 1;  ///< Seconds per priced second of computation.
  double end_s_ = 0;
  double compute_end_s_ = 0;
  Account account_;
  std::vector<Played>* played_ = nullptr;
};

}  // namespace stepwright
