#pragma once

#include <vector>

#include "stepwright/simulate/price/pipeline_cost.h"
#include "stepwright/tune/sharding_floor.h"

namespace stepwright::tune {

/// Message times of a pipeline's positions, in order of position.
using PositionTimes = std::vector<ShardingFloor::Times>;

/// Lower bounds, from their messages, of the prices of the ways to shard a pipeline
/// (`Pricer::seconds`).
class ChoiceFloor {
 public:
  /// Returns a lower bound of the step's seconds without the optimizer update; stops early once it
  /// exceeds `enough_s`.
  double price_s(const simulate::PipelineCost& pipeline, const plan::Overlap& overlap,
                 const PositionTimes& positions, const ShardingTable::Choice& choice,
                 double enough_s);

 private:
  /// The least seconds of one micro-batch on a position, with its messages.
  struct Pass {
    double forward_s = 0;
    double backward_s = 0;
    double both_s = 0;
  };
  /// A pipeline position together with the messages of a sharding choice.
  struct Position;
  static Pass pass(const Position& position);
  static double end_s(const Position& position, const Pass& pass, double slowest_s);

  std::vector<Pass> passes_;  ///< Scratch: passes by position.
};

}  // namespace stepwright::tune
