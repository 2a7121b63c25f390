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
};
inline constexpr Named<Direction> kDirectionNames[] = {
    {Direction::kForward, "forward"},
    {Direction::kBackward, "backward"},
    {Direction::kUpdate, "update"},
    {Direction::kDataGradient, "data_gradient"},
    {Direction::kWeightGradient, "weight_gradient"}};

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
