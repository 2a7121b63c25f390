// The end of a step: what sharding leaves to it, the small reductions, the norm and the optimizer.
#include "stepwright/step/update.h"

#include "stepwright/step/sharding.h"
#include "stepwright/step/work.h"

namespace stepwright {

Operator norm_operator(std::int64_t elements, DType gradient) {
  return {.kind = OperatorKind::kNormSquare,
          .phase = Phase::kOptimizer,
          .dtype = gradient,
          .shape = {.rows = elements},
          .name = "gradient_norm"};
}

Operator optimizer_operator(std::int64_t elements, Optimizer optimizer, DType storage,
                            DType gradient) {
  return {.kind = OperatorKind::kOptimizer,
          .phase = Phase::kOptimizer,
          .dtype = storage,
          .shape = {.rows = elements, .inner = optimizer_bytes(optimizer, storage, gradient)},
          .name = "optimizer"};
}

void ShardingBuilder::add_end(MessageWriter& out, const EndMessage& message) const {
  out.message({.kind = OperatorKind::kAllReduce,
               .group = message.group,
               .size = group_sizes_[static_cast<std::size_t>(message.group)],
               .elements = message.elements,
               .dtype = message.type,
               .phase = Phase::kOptimizer,
               .name = message.name,
               .purpose = message.purpose,
               .scheme = message.scheme});
}

Template ShardingBuilder::update(const Update& what) const {
  MessageWriter out("update");
  if (!reduces_in_buckets(plan_))
    add(out, what.stage, {DataMoment::kLastBackward}, Stream::kCompute);
  const StepEnd end{.partial = what.stage.partial,
                    .tied_table = what.tied_table,
                    .loss = what.loss,
                    .experts = what.experts,
                    .loads = what.loads,
                    .shares_rows = s_.sequence_parallel};
  for (const EndMessage& message : partial_gradients(plan_, end)) add_end(out, message);
  const std::int64_t own = shard_elements(plan_, plan_.sharding.optimizer, what.stage);
  out.compute(norm_operator(own, s_.gradient));
  for (const EndMessage& message : step_numbers(end, s_.exact)) add_end(out, message);
  out.compute(optimizer_operator(own, optimizer_, s_.storage, s_.gradient));
  if (!refreshes_in_blocks(plan_)) add(out, what.stage, {DataMoment::kAfterStep}, Stream::kCompute);
  return std::move(out.builder.piece());
}

}  // namespace stepwright
