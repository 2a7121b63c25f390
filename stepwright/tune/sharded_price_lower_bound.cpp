#include "stepwright/tune/sharded_price_lower_bound.h"

#include <algorithm>

namespace stepwright::tune {

struct ShardedPriceLowerBound::ShardedPipelinePosition {
  const simulate::PipelinePositionCost& stage;
  const plan::OverlapFlags& overlap;
  const ShardingLowerBounds::ShardingMessageTimes& times;
  const ShardingChoiceTable::Choice& choice;

  [[nodiscard]] double seconds(
      simulate::MessageSecondsWithBound simulate::ShardingMessageCost::* moment) const {
    return times.sharding_message_seconds_at(choice, moment);
  }
};

/// Messages beside a pass make the pass at least as long as they are; messages that block lengthen
/// it.
ShardedPriceLowerBound::PositionSecondsLowerBound ShardedPriceLowerBound::pass(
    const ShardedPipelinePosition& position) {
  const simulate::PipelinePositionCost& stage = position.stage;
  const double gather_s = position.seconds(&simulate::ShardingMessageCost::gather);
  const double regather_s = position.seconds(&simulate::ShardingMessageCost::regather);
  const double reduce_s = position.seconds(&simulate::ShardingMessageCost::reduce);
  PositionSecondsLowerBound pass;
  if (position.overlap.parameters) {
    pass.forward_s = std::max(stage.forward.seconds, gather_s);
    pass.backward_s = std::max(stage.backward.seconds, regather_s);
  } else {
    pass.forward_s = stage.forward.seconds + gather_s;
    pass.backward_s = stage.backward.seconds + regather_s;
  }
  const double both_s = pass.forward_s + pass.backward_s;
  pass.both_s = position.overlap.gradients ? std::max(both_s, reduce_s) : both_s + reduce_s;
  return pass;
}

/// Returns the seconds that a position's last backward adds, where forward and backward of the
/// slowest position take `slowest_s`. A position that is slower than its floor hides more of its
/// messages, but by no more than the pipeline then waits for it.
double ShardedPriceLowerBound::end_s(const ShardedPipelinePosition& position,
                                     const PositionSecondsLowerBound& pass, double slowest_s) {
  const double drain_s = position.stage.first_drain_s;
  const double last_s = position.seconds(&simulate::ShardingMessageCost::last_reduce);
  if (!position.overlap.gradients) return last_s - drain_s;
  const double all_s = last_s + position.seconds(&simulate::ShardingMessageCost::reduce);
  const double first = 1 / position.times.gradient_bucket_count_of_choice(position.choice);
  const double hidden_s = (slowest_s - pass.forward_s) * (1 - first);
  return std::max(all_s * first, all_s - hidden_s) - drain_s;
}

double ShardedPriceLowerBound::step_lower_bound_of_sharding_s(
    const simulate::PipelineCost& pipeline, const plan::OverlapFlags& overlap,
    const PositionTimes& positions, const ShardingChoiceTable::Choice& choice, double enough_s) {
  double slowest = 0;
  double base = 0;
  passes_.clear();
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const simulate::PipelinePositionCost& stage = pipeline.stages[i];
    passes_.push_back(pass({stage, overlap, positions[i], choice}));
    slowest = std::max(slowest, passes_.back().both_s);
    base = std::max(base, stage.forward.seconds + stage.backward.seconds);
  }
  const double steady_s =
      pipeline.seconds + static_cast<double>(pipeline.micro_batches) * (slowest - base);
  if (steady_s > enough_s) return steady_s;
  double end = 0;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const ShardedPipelinePosition position{pipeline.stages[i], overlap, positions[i], choice};
    end = std::max(end, end_s(position, passes_[i], slowest));
  }
  return steady_s + end;
}

}  // namespace stepwright::tune
