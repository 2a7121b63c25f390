#pragma once

#include <vector>

#include "stepwright/simulate/price/pipeline_cost.h"
#include "stepwright/tune/sharding_lower_bounds.h"

namespace stepwright::tune {

/// Seconds of the messages that gather and reduce sharded states, for each rank of a pipeline, in
/// pipeline order.
using PositionTimes = std::vector<ShardingLowerBounds::ShardingMessageTimes>;

/// Computes lower bounds of the closed-form price of sharded pipelines, from the messages of each
/// way to shard.
class ShardedPriceLowerBound {
 public:
  /// Returns a lower bound of the seconds of a step, without the optimizer update, for one way to
  /// shard a pipeline; stops early once the bound exceeds `enough_s`.
  double step_lower_bound_of_sharding_s(const simulate::PipelineCost& pipeline,
                                        const plan::OverlapFlags& overlap,
                                        const PositionTimes& positions,
                                        const ShardingChoiceTable::Choice& choice, double enough_s);

 private:
  /// Least seconds of one micro-batch on one rank of a pipeline, messages of sharded states
  /// included.
  struct PositionSecondsLowerBound {
    double forward_s = 0;
    double backward_s = 0;
    double both_s = 0;
  };
  /// One rank of a pipeline, together with the messages of its states if they are sharded in one
  /// way.
  struct ShardedPipelinePosition;
  static PositionSecondsLowerBound pass(const ShardedPipelinePosition& position);
  static double end_s(const ShardedPipelinePosition& position,
                      const PositionSecondsLowerBound& pass, double slowest_s);

  /// Scratch memory: least seconds of one micro-batch, by pipeline rank.
  std::vector<PositionSecondsLowerBound> passes_;
};

}  // namespace stepwright::tune
