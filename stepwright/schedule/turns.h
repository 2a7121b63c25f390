#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "stepwright/core/named.h"

namespace stepwright {

enum class Direction : std::uint8_t {
  kForward,
  kBackward,  ///< Both gradients.
  kUpdate,
  kDataGradient,    ///< The part of a backward that other chunks wait for.
  kWeightGradient,  ///< The rest of it, at any later time.
  // By all positions at once, each for its part of the vocabulary (`joint`):
  kEmbed,          ///< Tokens to rows, for the first chunk.
  kPredict,        ///< The head behind the last chunk: logits, the loss and their gradients.
  kEmbedGradient,  ///< What the first chunk's backward hands to the table.
};
inline constexpr Named<Direction> kDirectionNames[] = {
    {Direction::kForward, "forward"},
    {Direction::kBackward, "backward"},
    {Direction::kUpdate, "update"},
    {Direction::kDataGradient, "data_gradient"},
    {Direction::kWeightGradient, "weight_gradient"},
    {Direction::kEmbed, "embed"},
    {Direction::kPredict, "predict"},
    {Direction::kEmbedGradient, "embed_gradient"}};

/// Whether all positions do it at the same time; of no chunk of a position, so said of its first.
constexpr bool is_joint(Direction direction) { return direction >= Direction::kEmbed; }

/// One piece of work of a pipeline position: a direction of one of its chunks for one micro-batch.
struct Part {
  Direction direction = Direction::kForward;
  std::int32_t chunk = 0;  ///< Of the position.
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

/// The same turns with the parts of each one after the other.
Turns without_pairs(Turns turns);

}  // namespace stepwright
