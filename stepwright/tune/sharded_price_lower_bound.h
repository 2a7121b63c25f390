#pragma once

#include <vector>

#include "stepwright/simulate/price/pipeline_cost.h"
#include "stepwright/tune/sharding_lower_bounds.h"

namespace stepwright::tune {

/// Seconds of sharding messages of each position of a pipeline, in pipeline order.
using PositionTimes = std::vector<ShardingLowerBounds::Times>;

/// Computes lower bounds of the closed-form price of sharded pipelines, from the messages of each
/// way to shard.
class ShardedPriceLowerBound {
 public:
  /// Returns a lower bound of the seconds of a step, without the optimizer update, for one way to
  /// shard a pipeline; stops early once the bound exceeds `enough_s`.
  double price_s(const simulate::PipelineCost& pipeline, const plan::Overlap& overlap,
                 const PositionTimes& positions, const ShardingTable::Choice& choice,
                 double enough_s);

 private:
  /// Least seconds of one micro-batch on a pipeline position, messages of sharding included.
  struct Pass {
    double forward_s = 0;
    double backward_s = 0;
    double both_s = 0;
  };
  /// A pipeline position together with the sharding messages of one choice.
  struct ShardedPosition;
  static Pass pass(const ShardedPosition& position);
  static double end_s(const ShardedPosition& position, const Pass& pass, double slowest_s);

  std::vector<Pass> passes_;  ///< Scratch memory: seconds of one micro-batch, by pipeline position.
};

}  // namespace stepwright::tune
