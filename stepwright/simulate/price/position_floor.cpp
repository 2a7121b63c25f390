#include "stepwright/simulate/price/position_floor.h"

#include <algorithm>

namespace stepwright::simulate {
namespace {

/// Returns the load with data-parallel messages. Blocking messages do not count as waits, since the
/// next block's first messages may run beside them.
PipelinePositionStepLoad with_messages(const PipelinePositionCost& stage,
                                       const ShardingMessageCost& data,
                                       const plan::OverlapFlags& overlap, double micro_batches) {
  PipelinePositionStepLoad load = stage.load;
  MessageSecondsWithBound gathers = data.gather;
  gathers += data.regather;
  load.add(gathers.floors_s, micro_batches);
  load.add(data.reduce.floors_s, micro_batches);
  load.add(data.last_reduce.floors_s, 1);
  const double chunk = std::ranges::min(stage.chunk_shares);
  if (overlap.gradients) load.last_messages_s = chunk * data.last_reduce.floor_s;
  if (overlap.parameters) {
    load.add(data.refresh.floors_s, 1);
    load.first_messages_s = chunk * data.refresh.floor_s;
  }
  return load;
}

/// Returns the seconds of a pass: messages beside it make it at least as long as they are, blocking
/// messages share its compute stream.
double pass_s(const ModelBlockPassCost& pass, double beside_s, double blocking_s) {
  return std::max({pass.floor_s, beside_s, pass.stream_s + blocking_s});
}

double chain_s(const PipelinePositionCost& stage, const ShardingMessageCost& data,
               const plan::OverlapFlags& overlap, double micro_batches) {
  const double ahead_s = overlap.parameters ? data.gather.floor_s : 0;
  const double gather_s = overlap.parameters ? 0 : data.gather.floor_s;
  const double again_ahead_s = overlap.parameters ? data.regather.floor_s : 0;
  const double again_s = overlap.parameters ? 0 : data.regather.floor_s;
  const double reduce_s = overlap.gradients ? 0 : data.reduce.floor_s;
  const double end_s = overlap.gradients ? 0 : data.last_reduce.floor_s;
  if (stage.strands) {
    const double both_s = stage.forward.floor_s + stage.backward.floor_s;
    return micro_batches * std::max(both_s, ahead_s + again_ahead_s);
  }
  const double forward_s = pass_s(stage.forward, ahead_s, gather_s);
  const double passes_s = forward_s + pass_s(stage.backward, again_ahead_s, again_s + reduce_s);
  // Weight gradients deferred to the drain are reduced there.
  const double drained_s = stage.cut_size == step::ModelBlockParameterCounts{}
                               ? passes_s
                               : forward_s + pass_s(stage.backward, again_ahead_s, again_s);
  return std::max({micro_batches * passes_s + end_s, micro_batches * drained_s + stage.drain_s,
                   micro_batches * data.reduce.floor_s});
}

}  // namespace

double position_time_lower_bound_s(const PipelinePositionCost& stage,
                                   const ShardingMessageCost& data,
                                   const plan::OverlapFlags& overlap, double micro_batches,
                                   const cost::OverlapSlowdownFactors& contention) {
  return std::max(
      stage.fill_s + chain_s(stage, data, overlap, micro_batches),
      step_time_lower_bound_s(with_messages(stage, data, overlap, micro_batches), contention));
}

std::vector<schedule::ModelChunkMessageSeconds> min_chunk_message_seconds(
    const PipelinePositionCost& stage, const ShardingMessageCost& data,
    const plan::OverlapFlags& overlap) {
  const double refresh_s = overlap.parameters ? data.refresh.floor_s : 0;
  std::vector<schedule::ModelChunkMessageSeconds> messages;
  for (const double share : stage.chunk_shares) {
    messages.push_back({share * refresh_s, share * data.last_reduce.floor_s});
  }
  return messages;
}

}  // namespace stepwright::simulate
