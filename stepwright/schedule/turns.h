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
  kBackward,  ///< Data and weight gradients.
  kUpdate,
  kDataGradient,    ///< The part of a backward that other chunks wait for.
  kWeightGradient,  ///< The rest of a backward, at any later time.
  kHeadGradient,    ///< The head's weight gradients, behind all turns of its position.
  // By all positions at once, each for its part of the vocabulary (`is_joint`):
  kEmbed,          ///< Tokens to rows, for the first chunk.
  kPredict,        ///< The head behind the last chunk: logits, the loss and their gradients.
  kEmbedGradient,  ///< The gradient of the first chunk's input, for the table.
  // By each position when its turn comes, with messages of all on their way between turns
  // (`is_pass`):
  kLookUp,    ///< Tokens to the rows of this part of the table, which are summed.
  kTakeRows,  ///< The sums, for the first chunk.
  kHandRows,  ///< Rows behind the last chunk, to all.
  /// Logits of this part of the vocabulary, with its share of the loss, which all exchange.
  kLogits,
  kLogitGradient,  ///< Gradient of the logits and of the table; with two barriers also of the rows.
  kSumGradient,    ///< Gradient of the rows, summed over all; with one barrier `kLogits` sums it.
  kTakeGradient,   ///< The sum, for the last chunk's backward.
  kHandGradient,   ///< Gradient of the first chunk's input, to all.
  kTableGradient,  ///< Gradient of this part of the table, from that input's gradient.
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

/// Whether all positions do it at the same time; of no chunk of a position, so said of its first.
constexpr bool is_joint(Direction direction) {
  return direction >= Direction::kEmbed && direction <= Direction::kEmbedGradient;
}

/// Whether it is a pass over a part of the vocabulary; of no chunk of a position, so said of its
/// first.
constexpr bool is_pass(Direction direction) { return direction >= Direction::kLookUp; }
inline constexpr std::size_t kVocabularyPasses = 9;
/// Index of a pass among the passes, from 0.
constexpr std::size_t pass_index(Direction pass) {
  return static_cast<std::size_t>(pass) - static_cast<std::size_t>(Direction::kLookUp);
}

/// Whether a pass leaves a message of all positions on its way. All send theirs in one order.
constexpr bool posts(Direction direction) {
  return direction == Direction::kLookUp || direction == Direction::kHandRows ||
         direction == Direction::kLogits || direction == Direction::kSumGradient ||
         direction == Direction::kHandGradient;
}

/// Whether a pass begins when the messages that its position has posted have ended.
constexpr bool awaits(Direction direction) {
  return direction == Direction::kTakeRows || direction == Direction::kLogits ||
         direction == Direction::kLogitGradient || direction == Direction::kTakeGradient ||
         direction == Direction::kTableGradient;
}

/// One piece of work of a pipeline position: a direction of one of its chunks for one micro-batch.
struct Part {
  Direction direction = Direction::kForward;
  std::int32_t chunk = 0;  ///< Chunk of the position, from 0.
  std::int32_t micro_batch = 0;
  auto operator<=>(const Part&) const = default;
};

/// One action of a position in its pipeline schedule: a part, or two that run together.
struct Turn {
  Part part;
  std::optional<Part> beside;
};

/// The turns of one position, in order.
using Turns = std::vector<Turn>;

/// A part, and a turn that is nothing else.
Part part_of(Direction direction, std::int64_t chunk, std::int64_t micro_batch);
Turn turn_of(Direction direction, std::int64_t chunk, std::int64_t micro_batch);

/// The parts of turns in the order in which they are issued: of two that run together the backward
/// first, which frees what the forward then takes.
std::vector<Part> parts_of(std::span<const Turn> turns);

/// Returns the turns with the parts of each pair one after the other.
Turns without_pairs(Turns turns);

}  // namespace stepwright::schedule
