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
  kBackward,  ///< Data and weight gradients together.
  kUpdate,
  kDataGradient,    ///< The part of a backward that other chunks wait for.
  kWeightGradient,  ///< The rest of a backward, at any later time.
  kHeadGradient,    ///< The head's weight gradients, after all other turns of its position.
  // Joint work of all positions at the same time, each on its part of the vocabulary (`is_joint`):
  kEmbed,          ///< Looks up the rows of tokens, for the first chunk.
  kPredict,        ///< The head after the last chunk: logits, the loss and their gradients.
  kEmbedGradient,  ///< Adds the gradient of the first chunk's input to the table's gradient.
  // Passes of each position at a time of its own; messages between all positions overlap other
  // turns (`is_pass`):
  kLookUp,    ///< Looks up rows of this part of the table, which are then summed over positions.
  kTakeRows,  ///< Receives the summed rows, for the first chunk.
  kHandRows,  ///< Sends the rows after the last chunk to all positions.
  /// Computes logits of this part of the vocabulary, and its share of the loss, which all positions
  /// exchange.
  kLogits,
  /// Computes gradients of the logits and the table; with two barriers also of the rows.
  kLogitGradient,
  /// Sums the gradient of the rows over all positions; with one barrier, `kLogits` sums it.
  kSumGradient,
  kTakeGradient,  ///< Receives the summed gradient, for the last chunk's backward.
  kHandGradient,  ///< Sends the gradient of the first chunk's input to all positions.
  /// Computes the gradient of this part of the table from the gradient of the first chunk's input.
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
    {Direction::kLookUp, "look_up"},
    {Direction::kTakeRows, "take_rows"},
    {Direction::kHandRows, "hand_rows"},
    {Direction::kLogits, "logits"},
    {Direction::kLogitGradient, "logit_gradient"},
    {Direction::kSumGradient, "sum_gradient"},
    {Direction::kTakeGradient, "take_gradient"},
    {Direction::kHandGradient, "hand_gradient"},
    {Direction::kTableGradient, "table_gradient"}};

/// True if all positions do the work at the same time. The work belongs to no chunk; its
/// `Part::chunk` is 0.
constexpr bool is_joint(Direction direction) {
  return direction >= Direction::kEmbed && direction <= Direction::kEmbedGradient;
}

/// True if the work is a pass over a part of the vocabulary. The work belongs to no chunk; its
/// `Part::chunk` is 0.
constexpr bool is_pass(Direction direction) { return direction >= Direction::kLookUp; }
inline constexpr std::size_t kVocabularyPasses = 9;
/// Index of a pass among the passes, from 0.
constexpr std::size_t pass_index(Direction pass) {
  return static_cast<std::size_t>(pass) - static_cast<std::size_t>(Direction::kLookUp);
}

/// True if a pass posts a message of all positions. All positions post their messages in the same
/// order.
constexpr bool posts(Direction direction) {
  return direction == Direction::kLookUp || direction == Direction::kHandRows ||
         direction == Direction::kLogits || direction == Direction::kSumGradient ||
         direction == Direction::kHandGradient;
}

/// True if a pass waits until the messages that its position has posted have ended.
constexpr bool awaits(Direction direction) {
  return direction == Direction::kTakeRows || direction == Direction::kLogits ||
         direction == Direction::kLogitGradient || direction == Direction::kTakeGradient ||
         direction == Direction::kTableGradient;
}

/// One piece of work of a pipeline position: a direction of one of its chunks, for one micro-batch.
struct Part {
  Direction direction = Direction::kForward;
  std::int32_t chunk = 0;  ///< Index of the chunk on the position, from 0.
  std::int32_t micro_batch = 0;
  auto operator<=>(const Part&) const = default;
};

/// One entry of a position's schedule: a part, or two parts that overlap (a forward and a
/// backward).
struct ScheduleTurn {
  Part part;
  std::optional<Part> beside;
};

/// The turns (schedule entries) of one position, in order.
using Turns = std::vector<ScheduleTurn>;

/// Create a part, and a turn that consists of only that part.
Part make_turn_part(Direction direction, std::int64_t chunk, std::int64_t micro_batch);
ScheduleTurn make_single_part_turn(Direction direction, std::int64_t chunk,
                                   std::int64_t micro_batch);

/// Returns the parts of turns in the order of issue: of two parts that overlap, the backward comes
/// first, as it frees memory for the forward.
std::vector<Part> turn_parts(std::span<const ScheduleTurn> turns);

/// Returns the turns with overlapped parts changed to one turn after the other.
Turns without_pairs(Turns turns);

}  // namespace stepwright::schedule
