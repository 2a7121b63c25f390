#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "stepwright/schedule/placement.h"
#include "stepwright/schedule/turns.h"

namespace stepwright::schedule {

/// Costs of a forward that overlaps each of several backwards, data gradients or weight gradients.
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
  /// Seconds of work that all positions do at the same time; this and the next two are set only for
  /// the first chunk.
  double embed = 0;
  double predict = 0;
  double embed_gradient = 0;
  /// Cost of this chunk's forward overlapped with the backward of each chunk; empty: the sum of
  /// both.
  Beside<double> beside = {};

  [[nodiscard]] double of(Direction direction) const;
};

/// Seconds of a position's passes over the vocabulary for one micro-batch: `own` for the work,
/// `messages` for the message that each pass sends.
struct PassSeconds {
  std::array<double, kVocabularyPasses> own{};
  std::array<double, kVocabularyPasses> messages{};
  /// True if the position has such a pass, even one that takes no time; a position without it waits
  /// for nothing.
  std::array<bool, kVocabularyPasses> is_there{};
};

/// Messages of one chunk on one position that are sent once in a step; messages of a position are
/// sent one after the other.
struct ChunkMessages {
  /// Seconds of messages from the step's start, in the order of chunks; the chunk's first forward
  /// ends after them.
  double before_s = 0;
  /// Seconds of messages that follow the beginning of the chunk's last backward or data gradient.
  double after_s = 0;
};

/// The seconds of a schedule's turns: of parts, hops, messages and vocabulary passes.
struct TurnSeconds {
  std::vector<std::vector<PartSeconds>> parts;  ///< Seconds of parts, by position, then chunk.
  double hop_s = 0;                             ///< Seconds of a message to another position.
  /// Messages once in a step, by position, then chunk; empty: none.
  std::vector<std::vector<ChunkMessages>> messages;
  /// Seconds of vocabulary passes, by position; empty: there are none.
  std::vector<PassSeconds> passes = {};
  /// For each micro-batch, a factor on its seconds; empty: all are 1.
  std::vector<double> factors = {};

  /// Returns the seconds of a turn of a position's schedule.
  [[nodiscard]] double of(std::size_t position, const ScheduleTurn& turn) const;
};

/// Turns (schedule entries) of all positions, sorted so that each comes after the turns that it
/// waits for. A position does its turns one after the other. A forward waits for the forward of the
/// previous chunk, a backward or data gradient for that of the next chunk, with a hop between
/// positions; the last chunk's backward waits for its forward, a weight gradient for its data
/// gradient. A joint turn begins when the last position has reached it and ends for all at once.
/// Messages of vocabulary passes are sent one after the other, each when the last position has
/// posted it; a pass that awaits messages begins when all that its position has posted have ended.
class TurnOrder {
 public:
  TurnOrder() = default;
  /// Sorts `turns`, given by position. Throws `Error{kRuntime}` if a turn waits for one that never
  /// comes.
  TurnOrder(std::span<const Turns> turns, const Placement& placement);

 private:
  friend class TurnSimulator;
  /// A turn, and the turns that its part and its overlapped part wait for, by number. Turns are
  /// numbered from the first turn of the first position; negative: none.
  struct Step {
    std::int32_t turn = 0;
    std::array<std::int32_t, 2> waits = {-1, -1};
    std::int16_t position = 0;
    /// True if a message between positions comes before the part.
    std::array<bool, 2> hops = {false, false};
    /// True for a joint turn; the turns of all positions are consecutive in the list.
    bool joint = false;
    /// True for a pass over the vocabulary. `waits` then holds the numbers of two messages of all
    /// positions: the last one that the pass awaits, and the one that it posts.
    bool pass = false;
  };
  std::vector<Step> steps_;
  /// Number of each position's first turn; the last entry is the number of all turns.
  std::vector<std::int32_t> first_;
};

/// Simulates the turns (schedule entries) of all positions without streams and shared links, in
/// nanoseconds of host time per turn; `play` (engine.h) gives the same for a program without them.
/// A turn that takes no time, of a chunk without layers, passes on its input without delaying other
/// turns. Keeps its memory between calls.
class TurnSimulator {
 public:
  /// Returns the time in seconds at which each turn of each position ends. `order` must be the
  /// order of `turns`.
  const std::vector<std::vector<double>>& play(const TurnOrder& order, std::span<const Turns> turns,
                                               const TurnSeconds& seconds);
  const std::vector<std::vector<double>>& play(std::span<const Turns> turns,
                                               const Placement& placement,
                                               const TurnSeconds& seconds) {
    return play(TurnOrder(turns, placement), turns, seconds);
  }

 private:
  /// Simulates one joint turn of all positions.
  void meet(std::span<const TurnOrder::Step> steps, const ScheduleTurn& turn,
            const TurnSeconds& seconds);
  void pass(const TurnOrder::Step& step, const ScheduleTurn& turn, const TurnSeconds& seconds);
  /// Time in seconds at which a message of all positions has ended.
  double arrived_s(std::int32_t message);

  /// A message of all positions: the time at which the last of them posts it, and its duration in
  /// seconds.
  struct Message {
    double posted_s = 0;
    double seconds = 0;
  };
  std::vector<double> all_ends_;
  std::vector<Message> messages_;
  /// End times of the first messages, as far as they are computed.
  std::vector<double> message_ends_;
  std::vector<double> free_;  ///< Time at which each position ends its last started turn.
  std::vector<std::vector<double>> ends_;  ///< For each position, the end times of its turns.
};

/// Returns the end time of the last turn.
double makespan_s(const std::vector<std::vector<double>>& ends);
/// Returns the end time of the last turn and of the messages that follow the turns.
double makespan_s(const std::vector<std::vector<double>>& ends, std::span<const Turns> turns,
                  const TurnSeconds& seconds);

}  // namespace stepwright::schedule
