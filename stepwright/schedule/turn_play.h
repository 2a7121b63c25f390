#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "stepwright/schedule/placement.h"
#include "stepwright/schedule/turns.h"

namespace stepwright::schedule {

/// Costs of a forward that overlaps a backward, a data gradient or a weight gradient of another
/// micro-batch; each vector is indexed by the chunk of that backward.
template <class OverlappedChunkCost>
struct Beside {
  std::vector<OverlappedChunkCost> backward = {};
  std::vector<OverlappedChunkCost> data = {};
  std::vector<OverlappedChunkCost> weight = {};

  [[nodiscard]] const std::vector<OverlappedChunkCost>& of(Direction direction) const {
    if (direction == Direction::kDataGradient) return data;
    return direction == Direction::kWeightGradient ? weight : backward;
  }
};

/// Seconds of the work of one chunk on one pipeline rank for one micro-batch, by direction.
struct ModelChunkWorkSeconds {
  double forward = 0;
  /// Seconds of a whole backward of the chunk: data and weight gradients together.
  double backward = 0;
  double data = 0;
  double weight = 0;
  /// Seconds of looking up embeddings, which all pipeline ranks do at the same time; this and the
  /// next two members are set only for the first chunk of a rank.
  double embed = 0;
  double predict = 0;
  double embed_gradient = 0;
  /// Seconds of this chunk's forward overlapped with a backward of another micro-batch, by the
  /// backward's chunk; empty: the sum of both.
  Beside<double> beside = {};

  [[nodiscard]] double of(Direction direction) const;
};

/// Seconds of a pipeline rank's passes over its part of the vocabulary, for one micro-batch: `own`
/// for the work, `messages` for the message that each pass sends.
struct VocabularyPassSeconds {
  std::array<double, kVocabularyPasses> own{};
  std::array<double, kVocabularyPasses> messages{};
  /// For each pass over the vocabulary: true if the pipeline rank has it, even if it takes no time.
  /// A pass that the rank lacks waits for nothing.
  std::array<bool, kVocabularyPasses> is_there{};
};

/// Seconds of messages of one chunk on one pipeline rank that are sent once in a step (parameter
/// gathers, gradient reductions). Messages of a rank are sent one after the other.
struct ModelChunkMessageSeconds {
  /// Seconds of the chunk's messages that are sent from the start of the step on (parameter
  /// gathers), in the order of chunks; they must end before the chunk's first forward ends.
  double before_s = 0;
  /// Seconds of the chunk's messages that are sent after its last backward or data gradient has
  /// begun (gradient reductions).
  double after_s = 0;
};

/// Times in seconds from which a pipeline schedule is simulated: work of chunks, messages between
/// pipeline ranks, messages once in a step, and vocabulary passes.
struct PipelineScheduleSeconds {
  /// Seconds of the work of each chunk, for each pipeline rank and each of its chunks
  /// ([rank][chunk]).
  std::vector<std::vector<ModelChunkWorkSeconds>> parts;
  double hop_s = 0;  ///< Seconds of a message between neighbouring pipeline ranks.
  /// Seconds of messages that are sent once in a step, for each pipeline rank and each of its
  /// chunks ([rank][chunk]); empty: none.
  std::vector<std::vector<ModelChunkMessageSeconds>> messages;
  /// Seconds of the passes over the vocabulary of each pipeline rank; empty: there are none.
  std::vector<VocabularyPassSeconds> passes = {};
  /// For each micro-batch, the factor by which its work takes longer than that of the mean one;
  /// empty: all factors are 1.
  std::vector<double> factors = {};

  /// Returns the seconds of one schedule entry (turn) of a pipeline rank: one piece of work, or two
  /// that overlap.
  [[nodiscard]] double of(std::size_t position, const PipelineScheduleTurn& turn) const;
};

/// Turns (schedule entries) of all pipeline ranks, sorted so that each comes after the turns that
/// it waits for. A rank does its turns one after the other. A forward waits for the forward of the
/// previous chunk, a backward or data gradient for that of the next chunk, with a message between
/// ranks; the last chunk's backward waits for its forward, a weight gradient for its data gradient.
/// A joint turn begins when the last rank has reached it and ends for all at once. Messages of
/// vocabulary passes are sent one after the other, each when the last rank has posted it; a pass
/// that awaits messages begins when all that its rank has posted have ended.
class ScheduleTurnOrder {
 public:
  ScheduleTurnOrder() = default;
  /// Sorts the turns (schedule entries) of all pipeline ranks. Throws `Error{kRuntime}` if one
  /// waits for another that never comes.
  ScheduleTurnOrder(std::span<const Turns> turns, const ModelChunkPlacement& placement);

 private:
  friend class ScheduleTurnSimulator;
  /// A turn (schedule entry), and the numbers of the turns that its work and its overlapped work
  /// wait for. Turns are numbered from the first turn of the first pipeline rank; negative: none.
  struct ScheduleTurnDependencies {
    std::int32_t turn = 0;
    std::array<std::int32_t, 2> waits = {-1, -1};
    std::int16_t position = 0;
    /// True if a message from another pipeline rank must arrive before the work ([0]) or before the
    /// overlapped work ([1]).
    std::array<bool, 2> hops = {false, false};
    /// True for a schedule entry that all pipeline ranks run together: one per rank, consecutive.
    bool joint = false;
    /// True for a pass over the vocabulary. `waits` then holds the numbers of two messages of all
    /// pipeline ranks: the last one that the pass awaits, and the one that it sends.
    bool pass = false;
  };
  std::vector<ScheduleTurnDependencies> steps_;
  /// For each pipeline rank, the index of its first schedule entry among those of all ranks; the
  /// last element is the number of all entries.
  std::vector<std::int32_t> first_;
};

/// Simulates a pipeline schedule turn (entry) by turn, without streams and shared links, in
/// nanoseconds of host time per turn. `simulate_priced_program` gives equal times for a program
/// without these. A turn of a chunk without layers takes no time and passes its input on without
/// delaying other turns. Keeps its memory between calls.
class ScheduleTurnSimulator {
 public:
  /// Returns the time in seconds at which each turn (schedule entry) ends, for each pipeline rank:
  /// [rank][turn]. `order` must be made from `turns`.
  const std::vector<std::vector<double>>& turn_end_seconds(const ScheduleTurnOrder& order,
                                                           std::span<const Turns> turns,
                                                           const PipelineScheduleSeconds& seconds);
  const std::vector<std::vector<double>>& turn_end_seconds(std::span<const Turns> turns,
                                                           const ModelChunkPlacement& placement,
                                                           const PipelineScheduleSeconds& seconds) {
    return turn_end_seconds(ScheduleTurnOrder(turns, placement), turns, seconds);
  }

 private:
  /// Simulates one schedule entry that all pipeline ranks run together.
  void simulate_joint_turn(std::span<const ScheduleTurnOrder::ScheduleTurnDependencies> steps,
                           const PipelineScheduleTurn& turn,
                           const PipelineScheduleSeconds& seconds);
  void pass(const ScheduleTurnOrder::ScheduleTurnDependencies& step,
            const PipelineScheduleTurn& turn, const PipelineScheduleSeconds& seconds);
  /// Returns the time in seconds at which a message between all pipeline ranks has ended.
  double joint_message_end_seconds(std::int32_t message);

  /// A message between all pipeline ranks: the time at which the last rank sends it, and its
  /// duration, in seconds.
  struct AllPositionsMessage {
    double posted_s = 0;
    double seconds = 0;
  };
  std::vector<double> all_ends_;
  std::vector<AllPositionsMessage> messages_;
  /// End times in seconds of the first messages between all pipeline ranks, as far as they are
  /// computed.
  std::vector<double> message_ends_;
  /// Time in seconds at which each pipeline rank ends its last started schedule entry.
  std::vector<double> free_;
  /// End times in seconds of all turns (schedule entries): [pipeline rank][turn].
  std::vector<std::vector<double>> ends_;
};

/// Returns the time in seconds at which the last schedule entry of any pipeline rank ends. `ends`:
/// end time of each entry, [pipeline rank][entry].
double makespan_s(const std::vector<std::vector<double>>& ends);
/// Returns the time in seconds at which the last schedule entry, and the messages after all
/// entries, end. `ends`: end time of each entry, [pipeline rank][entry].
double makespan_s(const std::vector<std::vector<double>>& ends, std::span<const Turns> turns,
                  const PipelineScheduleSeconds& seconds);

}  // namespace stepwright::schedule
