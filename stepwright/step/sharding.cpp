#include "stepwright/step/sharding.h"

#include <algorithm>

#include "stepwright/core/divide_up.h"
#include "stepwright/step/template_builder.h"
#include "stepwright/step/work.h"

namespace stepwright {
namespace {

Stream data_stream(bool overlapped, Stream own) { return overlapped ? own : Stream::kCompute; }

}  // namespace

std::int64_t StateSpread::divisor(Spread spread) const {
  switch (spread) {
    case Spread::kNone: return 1;
    case Spread::kInner: return inner;
    case Spread::kGlobal: return world;
  }
  return 1;
}

ShardingBuilder::ShardingBuilder(const Setting& setting, const Plan& plan, const Grid& grid,
                                 Optimizer optimizer)
    : s_(setting),
      sharding_(plan.sharding),
      overlap_(plan.overlap),
      gradient_bucket_(plan.gradient_bucket),
      parameter_bucket_(plan.parameter_bucket),
      optimizer_(optimizer) {
  dense_ = {grid.size(GroupKind::kShardInner), grid.size(GroupKind::kDataContext),
            GroupKind::kShardInner, GroupKind::kShardOuter, GroupKind::kDataContext};
  expert_ = {grid.size(GroupKind::kExpertShardInner), grid.size(GroupKind::kExpertData),
             GroupKind::kExpertShardInner, GroupKind::kExpertShardOuter, GroupKind::kExpertData};
  for (int kind = 0; kind < kGroupKinds; ++kind) {
    group_sizes_[static_cast<std::size_t>(kind)] = grid.size(static_cast<GroupKind>(kind));
  }
}

bool ShardingBuilder::gathers_each_use() const { return sharding_.parameters != Spread::kNone; }

bool ShardingBuilder::gathers_after_step() const {
  return sharding_.optimizer != sharding_.parameters;
}

bool ShardingBuilder::reduces_each_backward() const { return sharding_.gradients != Spread::kNone; }

bool ShardingBuilder::reduces_last_backward() const {
  return sharding_.gradients != Spread::kGlobal;
}

void ShardingBuilder::add_each_use(MessageWriter& out, const StateSpread& spread,
                                   std::int64_t elements) const {
  if (!gathers_each_use()) return;
  const bool inner = sharding_.parameters == Spread::kInner;
  out.message({OperatorKind::kAllGather, inner ? spread.inner_group : spread.world_group,
               inner ? spread.inner : spread.world, elements, s_.storage, Phase::kForward,
               data_stream(overlap_.parameters, Stream::kGather), 0, "parameters",
               Purpose::kGatherParameters});
}

void ShardingBuilder::add_after_step(MessageWriter& out, const StateSpread& spread,
                                     std::int64_t elements, Stream stream) const {
  const Phase phase = Phase::kOptimizer;
  const auto gather = [&](GroupKind group, std::int64_t size, std::int64_t count) {
    out.message({OperatorKind::kAllGather, group, size, count, s_.storage, phase, stream,
                 parameter_bucket_, "parameters.updated", Purpose::kGatherUpdated});
  };
  if (sharding_.parameters == Spread::kNone && sharding_.optimizer == Spread::kInner) {
    gather(spread.inner_group, spread.inner, elements);
  } else if (sharding_.parameters == Spread::kNone && sharding_.optimizer == Spread::kGlobal) {
    gather(spread.world_group, spread.world, elements);
  } else if (sharding_.parameters == Spread::kInner && sharding_.optimizer == Spread::kGlobal) {
    gather(spread.outer_group, spread.outer(), divide_up(elements, spread.inner));
  }
}

void ShardingBuilder::add_reduction(MessageWriter& out, const StateSpread& spread,
                                    std::int64_t elements, const Reductions& which) const {
  const Spread g = sharding_.gradients;
  const Spread os = sharding_.optimizer;
  const auto reduce = [&](OperatorKind kind, GroupKind group, std::int64_t size,
                          std::int64_t count) {
    out.message({kind, group, size, count, s_.gradient, Phase::kWeightGradient, which.stream,
                 gradient_bucket_, "gradients", Purpose::kReduceGradients});
  };
  const bool inner = (g == Spread::kInner && which.each) ||
                     (g == Spread::kNone && os == Spread::kInner && which.last);
  const bool world = (g == Spread::kGlobal && which.each) ||
                     (g == Spread::kNone && os == Spread::kGlobal && which.last);
  const std::int64_t all = elements + which.borrowed;
  if (inner) reduce(OperatorKind::kReduceScatter, spread.inner_group, spread.inner, all);
  if (world) reduce(OperatorKind::kReduceScatter, spread.world_group, spread.world, all);
  if (!which.last) return;
  const std::int64_t part = divide_up(elements, spread.inner);
  if (os == Spread::kNone) {
    reduce(OperatorKind::kAllReduce, spread.world_group, spread.world, elements);
  } else if (os == Spread::kInner) {
    reduce(OperatorKind::kAllReduce, spread.outer_group, spread.outer(), part);
  } else if (g == Spread::kInner) {
    reduce(OperatorKind::kReduceScatter, spread.outer_group, spread.outer(), part);
  }
}

Template ShardingBuilder::gather(const UnitSize& unit, bool first_use) const {
  MessageWriter out("gather");
  const Stream stream = data_stream(overlap_.parameters, Stream::kGather);
  if (first_use) {
    add_after_step(out, dense_, unit.dense, stream);
    add_after_step(out, expert_, unit.expert, stream);
  }
  const Tensor whole = gathered_tensor(s_, unit);
  if (whole.elements() > 0) {
    out.writes.push_back(out.builder.tensor(whole));
    out.builder.output(out.writes.back());
  }
  add_each_use(out, dense_, unit.dense + unit.borrowed);
  add_each_use(out, expert_, unit.expert);
  return std::move(out.builder.piece());
}

Template ShardingBuilder::reduce(const std::vector<UnitSize>& bucket, bool last) const {
  MessageWriter out("reduce");
  const Stream stream = data_stream(overlap_.gradients, Stream::kReduce);
  UnitSize sum;
  for (const UnitSize& unit : bucket) {
    sum += unit;
    const Tensor leaving = gradient_tensor(s_, unit);
    if (leaving.elements() > 0) out.reads.push_back(out.builder.input(leaving));
  }
  const std::int64_t borrowed = reduces_each_backward() ? sum.borrowed : 0;
  add_reduction(out, dense_, sum.dense, {true, last, stream, borrowed});
  add_reduction(out, expert_, sum.expert, {true, last, stream});
  return std::move(out.builder.piece());
}

std::int64_t ShardingBuilder::shard(Spread spread, const UnitSize& size) const {
  return divide_up(size.dense, dense_.divisor(spread)) +
         divide_up(size.expert, expert_.divisor(spread));
}

States ShardingBuilder::states(const UnitSize& stage) const {
  return {size_bytes(s_.storage, shard(sharding_.parameters, stage)),
          size_bytes(s_.gradient, shard(sharding_.gradients, stage)),
          optimizer_state_bytes(optimizer_, s_.storage) * shard(sharding_.optimizer, stage)};
}

}  // namespace stepwright
