#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "stepwright/core/named.h"

namespace stepwright::schedule {

enum class Direction : std::uint8_t {
  kForward,
  kBackward,  ///< Backward of a chunk: data and weight gradients together.
  kUpdate,
  kDataGradient,  ///< Gradients of a chunk's inputs, for which the previous chunk's backward waits.
  kWeightGradient,  ///< Gradients of a chunk's weights, at any time after its data gradients.
  kHeadGradient,    ///< Weight gradients of the head, after all other work of its pipeline rank.
  // Joint work of all positions at the same time, each on its part of the vocabulary
  // (`is_joint_work`):
  /// All pipeline ranks look up the embedding rows of tokens, each in its part, for the first
  /// chunk.
  kEmbed,
  /// All pipeline ranks compute logits, the loss and their gradients, each for its part of the
  /// vocabulary.
  kPredict,
  /// All pipeline ranks add the gradient of the first chunk's input to the gradient of their part
  /// of the embedding table.
  kEmbedGradient,
  // Passes of each position at a time of its own; messages between all positions overlap other
  // turns (`is_vocabulary_pass`):
  /// Looks up tokens in this pipeline rank's part of the embedding table; rows are then summed over
  /// ranks.
  kEmbeddingLookUp,
  /// Receives the embedding rows of tokens, summed over pipeline ranks, as input of the model's
  /// first chunk.
  kTakeRows,
  /// Sends the output rows of the model's last chunk to all pipeline ranks, which compute their
  /// parts of the logits.
  kHandRows,
  /// Computes logits of this pipeline rank's part of the vocabulary, and its share of the loss,
  /// which all ranks exchange.
  kLogits,
  /// Computes gradients of the logits and of this pipeline rank's part of the head's table; in
  /// schedules with two barriers also those of the output rows.
  kLogitGradient,
  /// Sums the gradient of the output rows over all pipeline ranks. Schedules in which ranks wait
  /// for each other only once per micro-batch do so in `kLogits` instead.
  kSumGradient,
  /// Receives the summed gradient of the output rows, for the backward of the last chunk.
  kTakeGradient,
  /// Sends the gradient of the first chunk's input to all pipeline ranks, for their parts of the
  /// embedding table.
  kHandGradient,
  /// Computes the gradient of this pipeline rank's part of the embedding table from the gradient of
  /// the first chunk's input.
  kTableGradient,
};
inline constexpr Named<Direction> kDirectionNames[] = {
    {Direction::kForward, "forward"},
    {Direction::kBackward, "backward"},
    {Direction::kUpdate, "update"},
    {Direction::kDataGradient, "data_gradient"},
    {Direction::kWeightGradient, "weight_gradient"},
    {Direction::kHeadGradient, "head_gradient"},
    {Direction::kEmbed, "embed"},
    {Direction::kPredict, "predict"},
    {Direction::kEmbedGradient, "embed_gradient"},
    {Direction::kEmbeddingLookUp, "look_up"},
    {Direction::kTakeRows, "take_rows"},
    {Direction::kHandRows, "hand_rows"},
    {Direction::kLogits, "logits"},
    {Direction::kLogitGradient, "logit_gradient"},
    {Direction::kSumGradient, "sum_gradient"},
    {Direction::kTakeGradient, "take_gradient"},
    {Direction::kHandGradient, "hand_gradient"},
    {Direction::kTableGradient, "table_gradient"}};

/// True if all pipeline ranks do this work at the same time, each on its part of the vocabulary.
/// Such work belongs to no chunk; its `PipelineWorkPart::chunk` is 0.
constexpr bool is_joint_work(Direction direction) {
  return direction >= Direction::kEmbed && direction <= Direction::kEmbedGradient;
}

/// True if the work is a pass that a pipeline rank runs over its part of the vocabulary. Such work
/// belongs to no chunk; its `PipelineWorkPart::chunk` is 0.
constexpr bool is_vocabulary_pass(Direction direction) {
  return direction >= Direction::kEmbeddingLookUp;
}
inline constexpr std::size_t kVocabularyPasses = 9;
/// Returns the index of a vocabulary pass among all vocabulary passes, from 0.
constexpr std::size_t vocabulary_pass_index(Direction pass) {
  return static_cast<std::size_t>(pass) - static_cast<std::size_t>(Direction::kEmbeddingLookUp);
}

/// True if a vocabulary pass sends a message between all pipeline ranks; all ranks send them in the
/// same order.
constexpr bool sends_all_position_message(Direction direction) {
  return direction == Direction::kEmbeddingLookUp || direction == Direction::kHandRows ||
         direction == Direction::kLogits || direction == Direction::kSumGradient ||
         direction == Direction::kHandGradient;
}

/// True if a vocabulary pass waits until the messages that its pipeline rank has sent before have
/// ended.
constexpr bool waits_for_all_position_messages(Direction direction) {
  return direction == Direction::kTakeRows || direction == Direction::kLogits ||
         direction == Direction::kLogitGradient || direction == Direction::kTakeGradient ||
         direction == Direction::kTableGradient;
}

/// One piece of work of a pipeline rank: a direction (forward, backward ...) of one of its chunks,
/// for one micro-batch.
struct PipelineWorkPart {
  Direction direction = Direction::kForward;
  std::int32_t chunk = 0;  ///< Index of the chunk among those of the pipeline rank, from 0.
  std::int32_t micro_batch = 0;
  auto operator<=>(const PipelineWorkPart&) const = default;
};

/// One entry of a pipeline rank's schedule: one piece of work, or two that overlap (a forward and a
/// backward).
struct PipelineScheduleTurn {
  PipelineWorkPart part;
  std::optional<PipelineWorkPart> beside;
};

/// The schedule of one pipeline rank: its turns (entries) in order.
using Turns = std::vector<PipelineScheduleTurn>;

/// Returns one piece of work of a pipeline rank.
PipelineWorkPart make_schedule_work_item(Direction direction, std::int64_t chunk,
                                         std::int64_t micro_batch);
PipelineScheduleTurn make_single_part_turn(Direction direction, std::int64_t chunk,
                                           std::int64_t micro_batch);

/// Returns the work of schedule entries in the order of issue: of two pieces that overlap, the
/// backward comes first, as it frees memory for the forward.
std::vector<PipelineWorkPart> work_items_in_issue_order(
    std::span<const PipelineScheduleTurn> turns);

/// Returns the schedule entries with each overlapped forward and backward replaced by two entries,
/// one after the other.
Turns serialize_overlapped_turns(Turns turns);

}  // namespace stepwright::schedule
