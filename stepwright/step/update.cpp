// The end of a step: what sharding leaves to it, the small reductions, the norm and the optimizer.
#include "stepwright/core/divide_up.h"
#include "stepwright/step/sharding.h"
#include "stepwright/step/work.h"

namespace stepwright {
/// Gradients that several ranks hold in part: norm weights under sequence parallelism, norms
/// of heads, tied tables.
void ShardingBuilder::add_small_reductions(MessageWriter& out, const Update& what) const {
  const std::int64_t divisor = dense_.divisor(sharding_.gradients);
  out.message({.kind = OperatorKind::kAllReduce,
               .group = GroupKind::kTensor,
               .size = s_.tensor,
               .elements = divide_up(what.stage.partial, divisor),
               .dtype = s_.gradient,
               .phase = Phase::kOptimizer,
               .name = "gradients.replicated",
               .purpose = Purpose::kReduceReplicated,
               .scheme = Scheme::kTensor});
  out.message({.kind = OperatorKind::kAllReduce,
               .group = GroupKind::kEmbedding,
               .size = what.tied_table > 0 ? 2 : 1,
               .elements = divide_up(what.tied_table, divisor),
               .dtype = s_.gradient,
               .phase = Phase::kOptimizer,
               .name = "gradients.tied_table",
               .purpose = Purpose::kReduceTiedTable,
               .scheme = Scheme::kPipeline});
}

void ShardingBuilder::add_norm(MessageWriter& out, const Update& what) const {
  out.compute({.kind = OperatorKind::kNormSquare,
               .phase = Phase::kOptimizer,
               .dtype = s_.gradient,
               .shape = {.rows = shard(sharding_.optimizer, what.stage)},
               .name = "gradient_norm"});
  for (const GroupKind group : {GroupKind::kNorm, GroupKind::kExpertNorm}) {
    if (group == GroupKind::kExpertNorm && !what.experts) continue;
    out.message({.kind = OperatorKind::kAllReduce,
                 .group = group,
                 .size = group_sizes_[static_cast<std::size_t>(group)],
                 .elements = 1,
                 .dtype = s_.exact,
                 .phase = Phase::kOptimizer,
                 .name = "gradient_norm",
                 .purpose = Purpose::kShareNorm,
                 .scheme = Scheme::kControl});
  }
}

void ShardingBuilder::add_optimizer(MessageWriter& out, const Update& what) const {
  out.compute({.kind = OperatorKind::kOptimizer,
               .phase = Phase::kOptimizer,
               .dtype = s_.storage,
               .shape = {.rows = shard(sharding_.optimizer, what.stage),
                         .inner = optimizer_bytes(optimizer_, s_.storage, s_.gradient)},
               .name = "optimizer"});
}

Template ShardingBuilder::update(const Update& what) const {
  MessageWriter out("update");
  if (what.reduce_last) {
    add_reduction(out, dense_, what.stage.dense, {.last = true});
    add_reduction(out, expert_, what.stage.expert, {.last = true});
  }
  add_small_reductions(out, what);
  add_norm(out, what);
  if (what.loss) {
    out.message({.kind = OperatorKind::kAllReduce,
                 .group = GroupKind::kDataContext,
                 .size = dense_.world,
                 .elements = 2,
                 .dtype = s_.exact,
                 .phase = Phase::kOptimizer,
                 .name = "loss",
                 .purpose = Purpose::kShareLoss,
                 .scheme = Scheme::kControl});
  }
  add_optimizer(out, what);
  if (what.gather) {
    add_after_step(out, dense_, what.stage.dense, Stream::kCompute);
    add_after_step(out, expert_, what.stage.expert, Stream::kCompute);
  }
  return std::move(out.builder.piece());
}

}  // namespace stepwright
