#include "stepwright/simulate/price/sharding_message_cost.h"

#include <algorithm>

#include "stepwright/plan/optimizer_traits.h"
#include "stepwright/simulate/price/position_messages.h"
#include "stepwright/step/narrow_operands.h"
#include "stepwright/step/optimizer_share.h"
#include "stepwright/step/update.h"

namespace stepwright::simulate {
namespace {

double bytes_of(DType type, double elements) {
  return elements * static_cast<double>(element_size_centibits(type)) / 800.0;
}

/// Adds the cost of messages to sums.
class Messages {
 public:
  Messages(const cost::CostModel& cost, const plan::Plan& plan, const Layouts& layouts)
      : cost_(cost), plan_(plan), layouts_(layouts) {}

  /// Adds the message's elements, cut into `count` equal messages.
  void add(MessageSecondsWithBound& sum, const PositionDataParallelMessages& m) const {
    const cluster::GroupLayout& layout = layouts_[static_cast<std::size_t>(m.group)];
    if (layout.size <= 1 || m.elements <= 0) return;
    const auto time = [&](double each) {
      return cost_.message_time(m.kind, bytes_of(m.type, each), layout, plan_.collectives.data,
                                m.scheme);
    };
    const double largest = std::min(m.elements, m.largest);
    const cost::OperatorTime one = time(largest);
    const double seconds =
        m.count > 1 ? m.count * time(m.elements / m.count).seconds : time(m.elements).seconds;
    const double floor_s = std::min(seconds, one.seconds * (m.elements / largest));
    sum.link = std::max(sum.link, one.link);
    sum.seconds += seconds;
    sum.floor_s += floor_s;
    sum.floors_s[static_cast<std::size_t>(one.link)] += floor_s;
  }

 private:
  const cost::CostModel& cost_;
  const plan::Plan& plan_;
  const Layouts& layouts_;
};

MessageSecondsWithBound& of_moment(ShardingMessageCost& cost,
                                   step::DataParallelMessageMoment moment) {
  switch (moment) {
    case step::DataParallelMessageMoment::kEachUse: return cost.gather;
    case step::DataParallelMessageMoment::kAfterStep: return cost.refresh;
    case step::DataParallelMessageMoment::kEachBackward: return cost.reduce;
    case step::DataParallelMessageMoment::kLastBackward: break;
  }
  return cost.last_reduce;
}

/// Adds, for one moment, the host copies of a position's shards of its blocks, if parameters are
/// offloaded.
void add_copies(MessageSecondsWithBound& sum, const PositionPricingInput& at,
                const PipelinePositionCost& stage, const step::ShardingGroups& spread,
                step::DataParallelMessageMoment moment) {
  if (!at.plan.offload.parameters) return;
  const step::OperatorKind kind = step::moment_carries_gradients(moment)
                                      ? step::OperatorKind::kCopyToHost
                                      : step::OperatorKind::kCopyFromHost;
  for (const auto& [type, elements] :
       step::offloaded_state_copy_elements(at.job, at.plan, spread, stage.size, moment)) {
    if (elements == 0) continue;
    const step::Operator copy{.kind = kind, .dtype = type, .shape = {.rows = elements}};
    sum.seconds += at.cost.price_template_operators(copy, at.layouts, at.plan.collectives).seconds;
  }
}

/// Returns a position with only the blocks that have a backward.
PipelinePositionCost without_resting(const PipelinePositionCost& stage) {
  PipelinePositionCost working = stage;
  working.size.add(stage.resting.size, -1);
  working.units -= stage.resting.units;
  working.routed_units -= stage.resting.routed_units;
  return working;
}

/// Returns the bytes of optimizer states of a parameter that is not part of a matrix of its own.
double state_bytes(const plan::Job& job, const plan::StateDataTypes& types) {
  const std::int64_t moments = plan::optimizer_moment_hundredth_bits_per_element(
      plan::traits_of(job.optimizer), types, false);
  return static_cast<double>(plan::master_copy_bytes(types)) + static_cast<double>(moments) / 800;
}

/// True if all parameters of a position have equally large optimizer states, all on the device.
bool are_alike(const step::ShardingGroups& spread, const step::ModelBlockParameterCounts& size,
               const plan::HostOffload& offload) {
  return spread.stacked_matrix_sizes(size).empty() && offload.optimizer == 0;
}

/// Returns the bytes of optimizer states of one kind of parameters before sharding, without those
/// on the host; for an even spread, no more than the fullest rank holds.
double optimizer_bytes(const plan::Job& job, const plan::StateDataTypes& types,
                       const step::ShardingGroups& spread,
                       const step::ModelBlockParameterCounts& size,
                       const plan::HostOffload& offload) {
  const plan::OptimizerTraits& traits = plan::traits_of(job.optimizer);
  const step::OptimizerMatrixSizes& matrices = spread.stacked_matrix_sizes(size);
  const auto held = static_cast<double>(spread.sharded_trained_elements(size));
  const auto in_matrices = static_cast<double>(matrices.elements);
  const auto each = [&](bool of_matrix) {
    return static_cast<double>(
               plan::optimizer_moment_hundredth_bits_per_element(traits, types, of_matrix)) /
           800;
  };
  const auto master = static_cast<double>(plan::master_copy_bytes(types));
  double moments = held * each(false);
  if (!matrices.empty()) {
    moments += in_matrices * (each(true) - each(false)) +
               static_cast<double>(plan::moment_sum_or_scale_bytes(types) * matrices.numbers);
  }
  const double bytes = held * master + moments;
  if (offload.optimizer == 0) return bytes;
  return bytes - offload.optimizer * (moments + (offload.masters ? held * master : 0));
}

/// Returns the largest offload of optimizer states that the search may choose.
plan::HostOffload most_offloaded(const plan::Job& job, const plan::Plan& plan) {
  plan::HostOffload most = plan.offload;
  for (const double share : job.space.offload.optimizer) {
    if (share > most.optimizer) most = {.optimizer = share, .parameters = most.parameters};
  }
  for (const bool parameters : job.space.offload.parameters) most.parameters |= parameters;
  return most;
}

}  // namespace

double step_end_seconds(const PositionPricingInput& at, cost::OperatorTimeCache& computations) {
  const step::OptimizerShare share = step::optimizer_share(at.job, at.plan, at.stage.size);
  double computation = 0;
  for (const step::Operator& op : step::update_operators(at.job, at.plan, share)) {
    computation += computations.cached_operator_seconds(op);
  }
  for (const step::Operator& op :
       step::parameter_unpack_operators(at.job, at.plan, at.stage.size)) {
    computation += computations.cached_operator_seconds(op);
  }
  computation += computations.cached_operator_seconds(
      step::gradient_norm_operator(share.elements, plan::state_types(at.job, at.plan).gradient));
  const Messages messages(at.cost, at.plan, at.layouts);
  const step::StepEndSumSizes end = step_end_reductions(at.job, at.plan, at.stage);
  MessageSecondsWithBound sum;
  const auto add = [&](const step::StepEndMessage& message) {
    messages.add(sum, {.kind = message.kind,
                       .group = message.group,
                       .type = message.type,
                       .elements = static_cast<double>(message.elements),
                       .count = static_cast<double>(
                           step::bucketed_message_pieces(message.elements, message.bucket)),
                       .scheme = message.scheme});
  };
  std::ranges::for_each(step::partial_gradient_all_reduces(at.plan, end), add);
  std::ranges::for_each(
      step::step_statistics_all_reduces(end, step::data_type_of_statistics(at.job.precision)), add);
  std::ranges::for_each(step::matrix_optimizer_messages(at.job, at.plan, share), add);
  return computation + sum.seconds + at.cost.device_idle_seconds_between_steps();
}

MessageSecondsWithBound& MessageSecondsWithBound::operator+=(const MessageSecondsWithBound& other) {
  seconds += other.seconds;
  floor_s += other.floor_s;
  link = std::max(link, other.link);
  for (std::size_t i = 0; i < floors_s.size(); ++i) floors_s[i] += other.floors_s[i];
  return *this;
}

ShardingMessageCost& ShardingMessageCost::operator+=(const ShardingMessageCost& other) {
  gather += other.gather;
  regather += other.regather;
  refresh += other.refresh;
  reduce += other.reduce;
  last_reduce += other.last_reduce;
  pieces = std::max(pieces, other.pieces);
  update_s += other.update_s;
  return *this;
}

void add_sharding_message_cost(ShardingMessageCost& sum, const PositionPricingInput& at,
                               const step::ShardingGroups& spread) {
  const Messages messages(at.cost, at.plan, at.layouts);
  each_message(at.job, at.plan, at.stage, spread, [&](const PositionDataParallelMessages& m) {
    if (step::moment_carries_gradients(m.moment)) sum.pieces = std::max(sum.pieces, m.count);
    messages.add(of_moment(sum, m.moment), m);
  });
  add_copies(sum.gather, at, at.stage, spread, step::DataParallelMessageMoment::kEachUse);
  add_copies(sum.reduce, at, at.stage, spread, step::DataParallelMessageMoment::kEachBackward);
  if (at.stage.resting == FrozenModelBlocks{}) {
    sum.regather = sum.gather;
    return;
  }
  each_message(at.job, at.plan, without_resting(at.stage), spread,
               [&](const PositionDataParallelMessages& m) {
                 if (m.moment == step::DataParallelMessageMoment::kEachUse)
                   messages.add(sum.regather, m);
               });
  add_copies(sum.regather, at, without_resting(at.stage), spread,
             step::DataParallelMessageMoment::kEachUse);
}

ShardingMessageCost data_cost(const PositionPricingInput& at,
                              cost::OperatorTimeCache& computations) {
  ShardingMessageCost out;
  add_sharding_message_cost(out, at, step::dense_spread(at.plan));
  add_sharding_message_cost(out, at, step::routed_spread(at.plan));
  out.update_s = step_end_seconds(at, computations);
  return out;
}

ShardedStateMemory data_memory(const plan::Job& job, const plan::Plan& plan,
                               const PipelinePositionCost& stage) {
  ShardedStateMemory out;
  out.host_bytes = static_cast<double>(step::host_model_state_bytes(job, plan, stage.size).bytes());
  out.states_bytes =
      static_cast<double>(step::low_precision_weight_copy_bytes(job, plan, stage.size));
  const plan::StateDataTypes types = plan::state_types(job, plan);
  const double whole = bytes_of(plan::parameter_storage_type(job.precision), 1);
  const double parameter = plan.offload.parameters ? 0 : bytes_of(types.stored, 1);
  const double gradient = plan.offload.parameters ? 0 : bytes_of(types.gradient, 1);
  const plan::OtherModelCounts others = plan::other_models(job);
  const auto stores = static_cast<double>(1 + others.parameters);
  const auto updates = static_cast<double>(1 + others.updates);
  for (const step::ShardingGroups& spread : {step::dense_spread(plan), step::routed_spread(plan)}) {
    const auto elements = static_cast<double>(spread.sharded_trained_elements(stage.size));
    const auto p = static_cast<double>(spread.state_shard_count(plan.sharding.parameters));
    const auto g = static_cast<double>(spread.state_shard_count(plan.sharding.gradients));
    const auto os = static_cast<double>(spread.state_shard_count(plan.sharding.optimizer));
    const bool alike = are_alike(spread, stage.size, plan.offload);
    const double own = alike ? elements * state_bytes(job, types) / os
                             : optimizer_bytes(job, types, spread, stage.size, plan.offload) / os;
    const double stored = stores * parameter / p;
    out.states_bytes +=
        alike ? elements * (stored + updates * (gradient / g + state_bytes(job, types) / os))
              : elements * (stored + updates * gradient / g) + updates * own;
    out.gradient_bytes += elements * updates * gradient / g;
    const auto frozen = static_cast<double>(spread.frozen(stage.size));
    if (!plan.offload.parameters) out.states_bytes += stores * frozen * whole / p;
    out.parameter_bytes += elements * parameter / p;
    out.optimizer_bytes += own;
    // At the peak a layer is gathered; the head's peak comes when layer parameters have been freed.
    if (p > 1 && !stage.head) {
      const step::ModelBlockParameterCounts& least = stage.blocks.least;
      out.transient_bytes +=
          static_cast<double>(spread.sharded_trained_elements(least) + spread.frozen(least)) *
          whole;
    }
  }
  return out;
}

double deferred_gradient_bytes(const plan::Plan& plan,
                               const step::ModelBlockParameterCounts& deferred) {
  if (deferred == step::ModelBlockParameterCounts{}) return 0;
  double elements = 0;
  for (const step::ShardingGroups& spread : {step::dense_spread(plan), step::routed_spread(plan)}) {
    if (spread.state_shard_count(plan.sharding.gradients) <= 1) continue;
    elements += static_cast<double>(spread.sharded_trained_elements(deferred));
  }
  return elements * bytes_of(plan.accumulate, 1);
}

namespace {

/// Returns the bytes of a parameter, or fewer where narrow matrix products multiply it as it is
/// stored.
double least_parameter_bytes(const plan::Job& job, DType stored) {
  const double bytes = bytes_of(stored, 1);
  if (!job.kernels.narrow_parameters) return bytes;
  const auto layouts = static_cast<double>(step::low_precision_operand_layout_count(job));
  return layouts == 0 ? bytes : std::min(bytes, layouts * bytes_of(job.precision, 1));
}

}  // namespace

double min_model_state_bytes(const plan::Job& job, const plan::Plan& plan,
                             const PipelinePositionCost& stage, bool with_gradients) {
  const plan::HostOffload offload = most_offloaded(job, plan);
  // Gradients are accumulated in the type in which parameters are stored or in a wider one (law
  // `accumulate`).
  const plan::StateDataTypes types = plan::smallest_state_types(job);
  const plan::OtherModelCounts others = plan::other_models(job);
  const auto stores = static_cast<double>(1 + others.parameters);
  const auto updates = static_cast<double>(1 + others.updates);
  const double storage =
      offload.parameters ? 0 : bytes_of(plan::parameter_storage_type(job.precision), 1);
  const double frozen =
      offload.parameters
          ? 0
          : stores * least_parameter_bytes(job, plan::parameter_storage_type(job.precision));
  const double each = offload.parameters ? 0
                                         : (with_gradients ? updates * storage : 0) +
                                               stores * least_parameter_bytes(job, types.stored);
  double bytes = 0;
  for (const step::ShardingGroups& spread : {step::dense_spread(plan), step::routed_spread(plan)}) {
    const double held =
        (are_alike(spread, stage.size, offload)
             ? static_cast<double>(spread.sharded_trained_elements(stage.size)) *
                   (each + updates * state_bytes(job, types))
             : static_cast<double>(spread.sharded_trained_elements(stage.size)) * each +
                   updates * optimizer_bytes(job, types, spread, stage.size, offload)) +
        static_cast<double>(spread.frozen(stage.size)) * frozen;
    bytes += held / static_cast<double>(spread.world);
  }
  return bytes;
}

}  // namespace stepwright::simulate
