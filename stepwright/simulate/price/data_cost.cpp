#include "stepwright/simulate/price/data_cost.h"

#include <algorithm>

#include "stepwright/simulate/price/position_messages.h"
#include "stepwright/step/update.h"
#include "stepwright/step/work.h"

namespace stepwright {
namespace {

double bytes_of(DType type, double elements) {
  return elements * static_cast<double>(centibits(type)) / 800.0;
}

/// Adds messages to sums.
class Messages {
 public:
  Messages(const CostModel& cost, const Plan& plan, const Layouts& layouts)
      : cost_(cost), plan_(plan), layouts_(layouts) {}

  /// Its elements in `count` equal messages.
  void add(MessageCost& sum, const PositionMessage& m) const {
    const GroupLayout& layout = layouts_[static_cast<std::size_t>(m.group)];
    if (layout.size <= 1 || m.elements <= 0) return;
    const auto time = [&](double each) {
      return cost_.message(m.kind, bytes_of(m.type, each), layout, plan_.collectives.data,
                           m.scheme);
    };
    const double largest = std::min(m.elements, m.largest);
    const OperatorTime one = time(largest);
    const double seconds =
        m.count > 1 ? m.count * time(m.elements / m.count).seconds : time(m.elements).seconds;
    const double floor_s = std::min(seconds, one.seconds * (m.elements / largest));
    sum.link = std::max(sum.link, one.link);
    sum.seconds += seconds;
    sum.floor_s += floor_s;
    sum.floors_s[static_cast<std::size_t>(one.link)] += floor_s;
  }

 private:
  const CostModel& cost_;
  const Plan& plan_;
  const Layouts& layouts_;
};

MessageCost& of_moment(DataCost& cost, DataMoment moment) {
  switch (moment) {
    case DataMoment::kEachUse: return cost.gather;
    case DataMoment::kAfterStep: return cost.refresh;
    case DataMoment::kEachBackward: return cost.reduce;
    case DataMoment::kLastBackward: break;
  }
  return cost.last_reduce;
}

/// A position as its backwards see it.
StageCost without_resting(const StageCost& stage) {
  StageCost working = stage;
  working.size.add(stage.resting.size, -1);
  working.units -= stage.resting.units;
  working.routed_units -= stage.resting.routed_units;
  return working;
}

double state_bytes(const Job& job) {
  return static_cast<double>(optimizer_state_bytes(job.optimizer, storage_type(job.precision)));
}

}  // namespace

double update_seconds(const PricedPosition& at, PriceTable& computations) {
  const DType storage = storage_type(at.job.precision);
  const DType gradient = at.plan.accumulate;
  const std::int64_t own = shard_elements(at.plan, at.plan.sharding.optimizer, at.stage.size);
  const double computation =
      computations.seconds(optimizer_operator(own, at.job.optimizer, storage, gradient)) +
      computations.seconds(norm_operator(own, gradient));
  const Messages messages(at.cost, at.plan, at.layouts);
  const StepEnd end = step_end(at.job, at.plan, at.stage);
  MessageCost sum;
  const auto add = [&](const EndMessage& message) {
    messages.add(sum, {.kind = OperatorKind::kAllReduce,
                       .group = message.group,
                       .type = message.type,
                       .elements = static_cast<double>(message.elements),
                       .scheme = message.scheme});
  };
  std::ranges::for_each(partial_gradients(at.plan, end), add);
  std::ranges::for_each(step_numbers(end, exact_type(at.job.precision)), add);
  return computation + sum.seconds + at.cost.between_steps_s();
}

MessageCost& MessageCost::operator+=(const MessageCost& other) {
  seconds += other.seconds;
  floor_s += other.floor_s;
  link = std::max(link, other.link);
  for (std::size_t i = 0; i < floors_s.size(); ++i) floors_s[i] += other.floors_s[i];
  return *this;
}

DataCost& DataCost::operator+=(const DataCost& other) {
  gather += other.gather;
  regather += other.regather;
  refresh += other.refresh;
  reduce += other.reduce;
  last_reduce += other.last_reduce;
  pieces = std::max(pieces, other.pieces);
  update_s += other.update_s;
  return *this;
}

void add_messages(DataCost& sum, const PricedPosition& at, const StateSpread& spread) {
  const Messages messages(at.cost, at.plan, at.layouts);
  each_message(at.job, at.plan, at.stage, spread, [&](const PositionMessage& m) {
    if (reduces(m.moment)) sum.pieces = std::max(sum.pieces, m.count);
    messages.add(of_moment(sum, m.moment), m);
  });
  if (at.stage.resting == RestingBlocks{}) {
    sum.regather = sum.gather;
    return;
  }
  each_message(at.job, at.plan, without_resting(at.stage), spread, [&](const PositionMessage& m) {
    if (m.moment == DataMoment::kEachUse) messages.add(sum.regather, m);
  });
}

DataCost data_cost(const PricedPosition& at, PriceTable& computations) {
  DataCost out;
  add_messages(out, at, dense_spread(at.plan));
  add_messages(out, at, routed_spread(at.plan));
  out.update_s = update_seconds(at, computations);
  return out;
}

DataMemory data_memory(const Job& job, const Plan& plan, const StageCost& stage) {
  DataMemory out;
  const DType storage = storage_type(job.precision);
  const double parameter = bytes_of(storage, 1);
  const double gradient = bytes_of(plan.accumulate, 1);
  for (const StateSpread& spread : {dense_spread(plan), routed_spread(plan)}) {
    const auto elements = static_cast<double>(spread.held(stage.size));
    const auto p = static_cast<double>(spread.divisor(plan.sharding.parameters));
    const auto g = static_cast<double>(spread.divisor(plan.sharding.gradients));
    const auto os = static_cast<double>(spread.divisor(plan.sharding.optimizer));
    out.states_bytes += elements * (parameter / p + gradient / g + state_bytes(job) / os);
    const auto frozen = static_cast<double>(spread.frozen(stage.size));
    out.states_bytes += frozen * parameter / p;
    out.parameter_bytes += elements * parameter / p;
    out.optimizer_bytes += elements * state_bytes(job) / os;
    // At its largest moment a layer is gathered; the head's comes when its parameters are gone.
    if (p > 1 && !stage.head) {
      const UnitSize& least = stage.blocks.least;
      out.transient_bytes +=
          static_cast<double>(spread.held(least) + spread.frozen(least)) * parameter;
    }
  }
  return out;
}

double deferred_gradient_bytes(const Plan& plan, const StageCost& stage) {
  if (stage.deferred_size == UnitSize{}) return 0;
  double elements = 0;
  for (const StateSpread& spread : {dense_spread(plan), routed_spread(plan)}) {
    if (spread.divisor(plan.sharding.gradients) <= 1) continue;
    elements += static_cast<double>(spread.held(stage.deferred_size));
  }
  return elements * bytes_of(plan.accumulate, 1);
}

double least_states_bytes(const Job& job, const Plan& plan, const StageCost& stage) {
  // Gradients are accumulated in the stored type or in a wider one (law `accumulate`).
  const double each = 2 * bytes_of(storage_type(job.precision), 1) + state_bytes(job);
  double bytes = 0;
  for (const StateSpread& spread : {dense_spread(plan), routed_spread(plan)}) {
    const double held =
        static_cast<double>(spread.held(stage.size)) * each +
        static_cast<double>(spread.frozen(stage.size)) * bytes_of(storage_type(job.precision), 1);
    bytes += held / static_cast<double>(spread.world);
  }
  return bytes;
}

}  // namespace stepwright
