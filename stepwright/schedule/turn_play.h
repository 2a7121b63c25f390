#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "stepwright/schedule/placement.h"
#include "stepwright/schedule/turns.h"

namespace stepwright::schedule {

/// Cost of a forward beside each of several backwards, data gradients or weight gradients.
template <class Cost>
struct Beside {
  std::vector<Cost> backward = {};
  std::vector<Cost> data = {};
  std::vector<Cost> weight = {};

  [[nodiscard]] const std::vector<Cost>& of(Direction direction) const {
    if (direction == Direction::kDataGradient) return data;
    return direction == Direction::kWeightGradient ? weight : backward;
  }
};

/// Seconds of the parts of one chunk on one position, for one micro-batch.
struct PartSeconds {
  double forward = 0;
  double backward = 0;  ///< Data and weight gradients together.
  double data = 0;
  double weight = 0;
  /// Set in the first chunk only: what all positions do together, as are the next two.
  double embed = 0;
  double predict = 0;
  double embed_gradient = 0;
  /// Cost of its forward beside each chunk's backward; empty: the sum of both.
  Beside<double> beside = {};

  [[nodiscard]] double of(Direction direction) const;
};

/// Seconds of a position's passes over the vocabulary for one micro-batch, and of what each leaves
/// on its way.
struct PassSeconds {
  std::array<double, kVocabularyPasses> own{};
  std::array<double, kVocabularyPasses> messages{};
  /// Whether the position has anything to do there, if in no time; else it waits for nothing.
  std::array<bool, kVocabularyPasses> is_there{};
};

/// Messages of one chunk on one position, once in a step; those of a position go one after the
/// other.
struct ChunkMessages {
  /// Seconds from the start, in the order of chunks; forwards end after them.
  double before_s = 0;
  double after_s = 0;  ///< Seconds from where its last backward or data gradient begins.
};

/// The seconds of a schedule's turns.
struct TurnSeconds {
  std::vector<std::vector<PartSeconds>> parts;  ///< Seconds of parts, by position, then chunk.
  double hop_s = 0;                             ///< Seconds of a message to another position.
  /// Messages, by position, then chunk; empty: none.
  std::vector<std::vector<ChunkMessages>> messages;
  /// Seconds of passes, by position; empty: there are none.
  std::vector<PassSeconds> passes = {};
  std::vector<double> factors = {};  ///< Factors on the seconds of each micro-batch; empty: none.

  /// Seconds of a turn of a position.
  [[nodiscard]] double of(std::size_t position, const Turn& turn) const;
};

/// Turns in an order in which each comes after those that it waits for: a position does one after
/// the other; a forward waits for that of the chunk before it, a backward or data gradient for that
/// of the chunk after it, with a hop between positions; the last chunk's backward follows its
/// forward, a weight gradient its data gradient. What all do together begins when the last of them
/// has come to it and ends for all at once. Messages of passes over the vocabulary go one after the
/// other, each when the last position has posted it; a pass that awaits them begins when all that
/// its position has posted have ended.
class TurnOrder {
 public:
  TurnOrder() = default;
  /// `turns` by position. Throws `Error{kRuntime}` when a turn waits for one that never comes.
  TurnOrder(std::span<const Turns> turns, const Placement& placement);

 private:
  friend class TurnPlayer;
  /// A turn and those that its part and the part beside it wait for, by number: turns count from
  /// the first position's first. Negative: none.
  struct Step {
    std::int32_t turn = 0;
    std::array<std::int32_t, 2> waits = {-1, -1};
    std::int16_t position = 0;
    std::array<bool, 2> hops = {false, false};  ///< Whether a message comes between.
    bool joint = false;  ///< One of as many as there are positions, which stand side by side.
    /// A pass over the vocabulary: `waits` are, of the messages of all positions, the last one that
    /// it awaits and the one that it posts.
    bool pass = false;
  };
  std::vector<Step> steps_;
  std::vector<std::int32_t> first_;  ///< Number of each position's first turn; then of all turns.
};

/// Plays turns without streams and shared links: what `play` (engine.h) does to a program without
/// them, in nanoseconds a turn. A turn that takes no time, of a chunk without layers, hands on what
/// it waits for and keeps no other waiting. Keeps its memory between calls.
class TurnPlayer {
 public:
  /// When each turn of each position ends. `order` is that of `turns`.
  const std::vector<std::vector<double>>& play(const TurnOrder& order, std::span<const Turns> turns,
                                               const TurnSeconds& seconds);
  const std::vector<std::vector<double>>& play(std::span<const Turns> turns,
                                               const Placement& placement,
                                               const TurnSeconds& seconds) {
    return play(TurnOrder(turns, placement), turns, seconds);
  }

 private:
  /// One turn of all positions at once.
  void meet(std::span<const TurnOrder::Step> steps, const Turn& turn, const TurnSeconds& seconds);
  void pass(const TurnOrder::Step& step, const Turn& turn, const TurnSeconds& seconds);
  /// When a message of all positions has ended.
  double arrived_s(std::int32_t message);

  /// A message of all positions: when the last of them posts it, and how long it then takes.
  struct Message {
    double posted_s = 0;
    double seconds = 0;
  };
  std::vector<double> all_ends_;
  std::vector<Message> messages_;
  std::vector<double> message_ends_;       ///< Ends of the messages that are known to have ended.
  std::vector<double> free_;               ///< When each position ends the turn that it has begun.
  std::vector<std::vector<double>> ends_;  ///< By position: the end of each of its turns.
};

/// When the last of all turns ends.
double makespan_s(const std::vector<std::vector<double>>& ends);
/// When the last of all turns, and of the messages that follow them, ends.
double makespan_s(const std::vector<std::vector<double>>& ends, std::span<const Turns> turns,
                  const TurnSeconds& seconds);

}  // namespace stepwright::schedule
