#include "stepwright/simulate/data_cost.h"

#include <algorithm>
#include <cmath>

#include "stepwright/step/work.h"

namespace stepwright {
namespace {

double bytes_of(DType type, double elements) {
  return elements * static_cast<double>(centibits(type)) / 800.0;
}

/// The ranks and communicators over which one kind of parameters is spread.
struct Spreading {
  std::int64_t inner = 1;
  std::int64_t world = 1;
  GroupKind inner_group{}, outer_group{}, world_group{};
  double elements = 0;  ///< Of the position.

  [[nodiscard]] double divisor(Spread spread) const {
    if (spread == Spread::kInner) return static_cast<double>(inner);
    return spread == Spread::kGlobal ? static_cast<double>(world) : 1.0;
  }
};

Spreading dense(const Plan& plan, const StageCost& stage) {
  const Parallel& size = plan.parallel;
  return {plan.sharding.group,    size.data * size.context, GroupKind::kShardInner,
          GroupKind::kShardOuter, GroupKind::kDataContext,  static_cast<double>(stage.size.dense)};
}

Spreading expert(const Plan& plan, const StageCost& stage) {
  const Parallel& size = plan.parallel;
  const std::int64_t world =
      size.data * size.context * size.tensor / (size.expert * size.expert_tensor);
  return {plan.sharding.expert_group,   world,
          GroupKind::kExpertShardInner, GroupKind::kExpertShardOuter,
          GroupKind::kExpertData,       static_cast<double>(stage.size.expert)};
}

/// Elements in a number of equal messages.
struct Volume {
  DType type{};
  double elements = 0;
  double pieces = 1;
};

class Messages {
 public:
  Messages(const CostModel& cost, const Plan& plan, const Layouts& layouts)
      : cost_(cost), plan_(plan), layouts_(layouts) {}

  /// Adds `volume.elements` in `volume.pieces` messages.
  void add(MessageCost& sum, OperatorKind kind, GroupKind group, const Volume& volume) const {
    const GroupLayout& layout = layouts_[static_cast<std::size_t>(group)];
    if (layout.size <= 1 || volume.elements <= 0) return;
    const auto seconds = [&](double count) {
      const OperatorTime time =
          cost_.message(kind, bytes_of(volume.type, count), layout, plan_.collectives.data);
      sum.link = std::max(sum.link, time.link);
      return time.seconds;
    };
    const double whole = seconds(volume.elements);
    const double pieces = volume.pieces;
    sum.floor_s += whole;
    sum.seconds += pieces > 1 ? pieces * seconds(volume.elements / pieces) : whole;
  }

 private:
  const CostModel& cost_;
  const Plan& plan_;
  const Layouts& layouts_;
};

/// The blocks of a position and the type in which their parameters are stored.
struct Blocks {
  DType storage{};
  double units = 1;
};

double pieces_of(double elements, std::int64_t bucket, double units) {
  // A bucket closes with the block that fills it, and is cut into as many pieces as it has buckets.
  const auto size = static_cast<double>(std::max<std::int64_t>(bucket, 1));
  const double per_unit = std::max(1.0, std::floor(elements / units / size));
  return std::max(1.0, std::min(std::floor(elements / size), units * per_unit));
}

void add_gathers(DataCost& out, const Messages& messages, const Plan& plan, const Spreading& spread,
                 const Blocks& blocks) {
  const Spread p = plan.sharding.parameters;
  const Spread os = plan.sharding.optimizer;
  const auto gather = [&](MessageCost& sum, GroupKind group, double elements, double pieces) {
    messages.add(sum, OperatorKind::kAllGather, group, {blocks.storage, elements, pieces});
  };
  if (p == Spread::kInner) gather(out.gather, spread.inner_group, spread.elements, blocks.units);
  if (p == Spread::kGlobal) gather(out.gather, spread.world_group, spread.elements, blocks.units);
  if (p == os) return;
  const double part =
      p == Spread::kInner ? spread.elements / static_cast<double>(spread.inner) : spread.elements;
  GroupKind group = os == Spread::kInner ? spread.inner_group : spread.world_group;
  if (p == Spread::kInner) group = spread.outer_group;
  const double pieces =
      plan.overlap.parameters ? blocks.units : pieces_of(part, plan.parameter_bucket, 1e18);
  gather(out.refresh, group, part, pieces);
}

void add_reductions(DataCost& out, const Messages& messages, const Plan& plan,
                    const Spreading& spread, double units) {
  const Spread g = plan.sharding.gradients;
  const Spread os = plan.sharding.optimizer;
  const double whole = spread.elements;
  const double part = whole / static_cast<double>(spread.inner);
  const double buckets = pieces_of(whole, plan.gradient_bucket, units);
  out.buckets = std::max(out.buckets, buckets);
  const auto reduce = [&](MessageCost& sum, OperatorKind kind, GroupKind group, double elements) {
    messages.add(sum, kind, group, {plan.accumulate, elements, buckets});
  };
  constexpr OperatorKind kScatter = OperatorKind::kReduceScatter;
  if (g == Spread::kGlobal) {
    reduce(out.reduce, kScatter, spread.world_group, whole);
    return;
  }
  if (g == Spread::kInner) reduce(out.reduce, kScatter, spread.inner_group, whole);
  if (os == Spread::kInner) {
    if (g == Spread::kNone) reduce(out.last_reduce, kScatter, spread.inner_group, whole);
    reduce(out.last_reduce, OperatorKind::kAllReduce, spread.outer_group, part);
  } else if (os == Spread::kNone) {
    reduce(out.last_reduce, OperatorKind::kAllReduce, spread.world_group, whole);
  } else if (g == Spread::kInner) {
    reduce(out.last_reduce, kScatter, spread.outer_group, part);
  } else {
    reduce(out.last_reduce, kScatter, spread.world_group, whole);
  }
}

double state_bytes(const Job& job) {
  return static_cast<double>(optimizer_state_bytes(job.optimizer, storage_type(job.precision)));
}

double update_seconds(const CostModel& cost, const Job& job, const Plan& plan,
                      const Layouts& layouts, const StageCost& stage) {
  const DType storage = storage_type(job.precision);
  const Messages messages(cost, plan, layouts);
  const Spreading d = dense(plan, stage);
  const Spreading e = expert(plan, stage);
  const Spread os = plan.sharding.optimizer;
  const auto rows =
      static_cast<std::int64_t>(d.elements / d.divisor(os) + e.elements / e.divisor(os));
  Operator op{
      .kind = OperatorKind::kOptimizer,
      .phase = Phase::kOptimizer,
      .dtype = storage,
      .shape = {.rows = rows, .inner = optimizer_bytes(job.optimizer, storage, plan.accumulate)}};
  double seconds = cost.compute_s(op);
  op.kind = OperatorKind::kNormSquare;
  op.dtype = plan.accumulate;
  seconds += cost.compute_s(op);
  const auto all_reduce = [&](GroupKind group, DType type, double elements) {
    MessageCost sum;
    messages.add(sum, OperatorKind::kAllReduce, group, {type, elements, 1});
    return sum.seconds;
  };
  const double divisor = d.divisor(plan.sharding.gradients);
  if (stage.size.partial > 0) {
    seconds += all_reduce(GroupKind::kTensor, plan.accumulate,
                          static_cast<double>(stage.size.partial) / divisor);
  }
  seconds += all_reduce(GroupKind::kEmbedding, plan.accumulate,
                        static_cast<double>(stage.tied_table) / divisor);
  seconds += all_reduce(GroupKind::kNorm, DType::kFp32, 1);
  if (job.model.experts) seconds += all_reduce(GroupKind::kExpertNorm, DType::kFp32, 1);
  return seconds;
}

}  // namespace

DataCost message_cost(const CostModel& cost, const Job& job, const Plan& plan,
                      const Layouts& layouts, const StageCost& stage) {
  DataCost out;
  const Messages messages(cost, plan, layouts);
  const auto units = static_cast<double>(std::max<std::int64_t>(stage.units, 1));
  const DType storage = storage_type(job.precision);
  for (const Spreading& spread : {dense(plan, stage), expert(plan, stage)}) {
    if (spread.elements <= 0) continue;
    add_gathers(out, messages, plan, spread, {storage, units});
    add_reductions(out, messages, plan, spread, units);
  }
  return out;
}

DataCost data_cost(const CostModel& cost, const Job& job, const Plan& plan, const Layouts& layouts,
                   const StageCost& stage) {
  DataCost out = message_cost(cost, job, plan, layouts, stage);
  out.update_s = update_seconds(cost, job, plan, layouts, stage);
  return out;
}

DataMemory data_memory(const Job& job, const Plan& plan, const StageCost& stage) {
  DataMemory out;
  const DType storage = storage_type(job.precision);
  const double parameter = bytes_of(storage, 1);
  const double gradient = bytes_of(plan.accumulate, 1);
  const auto units = static_cast<double>(std::max<std::int64_t>(stage.units, 1));
  for (const Spreading& spread : {dense(plan, stage), expert(plan, stage)}) {
    const double p = spread.divisor(plan.sharding.parameters);
    const double g = spread.divisor(plan.sharding.gradients);
    const double os = spread.divisor(plan.sharding.optimizer);
    out.states_bytes += spread.elements * (parameter / p + gradient / g + state_bytes(job) / os);
    out.parameter_bytes += spread.elements * parameter / p;
    out.optimizer_bytes += spread.elements * state_bytes(job) / os;
    const double unit = spread.elements / units;
    if (p > 1) out.transient_bytes += unit * parameter * (plan.overlap.parameters ? 2 : 1);
    if (g > 1) {
      const double bucket = std::max(unit, static_cast<double>(plan.gradient_bucket));
      out.transient_bytes += std::min(spread.elements, bucket + unit) * gradient;
    }
  }
  return out;
}

double least_states_bytes(const Job& job, const Plan& plan, const StageCost& stage) {
  const double each = bytes_of(storage_type(job.precision), 1) + 2 + state_bytes(job);
  double bytes = 0;
  for (const Spreading& spread : {dense(plan, stage), expert(plan, stage)}) {
    bytes += spread.elements * each / static_cast<double>(std::max<std::int64_t>(spread.world, 1));
  }
  return bytes;
}

}  // namespace stepwright
