#include "stepwright/whole_run/checkpoint_size.h"

#include <algorithm>

#include "stepwright/step/data_messages.h"

namespace stepwright::whole_run {
namespace {

/// Returns the bytes of a state that do not duplicate another rank's, per rank that holds part of
/// it.
double own_bytes(const plan::Plan& plan, const step::PipelineStageProgram& stage,
                 plan::StateShardingScope spread, std::int64_t held_bytes) {
  const std::int64_t dense =
      step::state_shard_elements(plan, spread, {.dense = stage.dense_parameters});
  const std::int64_t routed =
      step::state_shard_elements(plan, spread, {.expert = stage.expert_parameters});
  if (dense + routed == 0) return 0;
  const auto share_of = [spread](const step::ShardingGroups& states) {
    return static_cast<double>(states.state_shard_count(spread)) /
           static_cast<double>(states.world);
  };
  const double own = static_cast<double>(dense) * share_of(step::dense_spread(plan)) +
                     static_cast<double>(routed) * share_of(step::routed_spread(plan));
  return static_cast<double>(held_bytes) * own / static_cast<double>(dense + routed);
}

}  // namespace

CheckpointSize checkpoint_size(const plan::Plan& plan, const step::StepProgram& program) {
  CheckpointSize size;
  const auto ranks =
      static_cast<double>(program.ranks) / static_cast<double>(program.stages.size());
  for (const step::PipelineStageProgram& stage : program.stages) {
    const double part = own_bytes(plan, stage, plan.sharding.parameters,
                                  stage.states.parameters - stage.states.frozen -
                                      stage.states.copies + stage.states.fetched) +
                        own_bytes(plan, stage, plan.sharding.optimizer,
                                  stage.states.optimizer + stage.states.moved);
    size.bytes += part * ranks;
    size.largest_part_bytes = std::max(size.largest_part_bytes, part);
  }
  return size;
}

}  // namespace stepwright::whole_run
