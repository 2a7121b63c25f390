#pragma once

#include <vector>

#include "stepwright/simulate/price/pipeline_cost.h"
#include "stepwright/tune/sharding_floor.h"

namespace stepwright::tune {

/// Times of one pipeline's positions, one after the other.
using PositionTimes = std::vector<ShardingFloor::Times>;

/// Bounds the prices of ways to shard a pipeline (`Pricer::seconds`) by their messages.
class ChoiceFloor {
 public:
  /// Seconds without the update, no further than to more than `enough_s`.
  double price_s(const simulate::PipelineCost& pipeline, const plan::Overlap& overlap,
                 const PositionTimes& positions, const ShardingTable::Choice& choice,
                 double enough_s);

 private:
  /// The least that a position takes for a micro-batch with its messages.
  struct Pass {
    double forward_s = 0;
    double backward_s = 0;
    double both_s = 0;
  };
  /// A position with a choice's messages.
  struct Position;
  static Pass pass(const Position& position);
  static double end_s(const Position& position, const Pass& pass, double slowest_s);

  std::vector<Pass> passes_;  ///< Scratch: passes by position.
};

}  // namespace stepwright::tune
