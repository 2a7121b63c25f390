#include "stepwright/step/sharding.h"

#include <algorithm>
#include <utility>

#include "stepwright/plan/optimizer_traits.h"
#include "stepwright/step/narrow_operands.h"
#include "stepwright/step/optimizer_share.h"
#include "stepwright/step/template_builder.h"

namespace stepwright::step {
namespace {

/// Phase, purpose and name of a moment's operators.
struct Mark {
  Phase phase{};
  std::string_view name;
  Purpose purpose{};
};

Mark mark_of(DataParallelMoment moment) {
  switch (moment) {
    case DataParallelMoment::kEachUse:
      return {Phase::kForward, "parameters", Purpose::kGatherParameters};
    case DataParallelMoment::kAfterStep:
      return {Phase::kOptimizer, "parameters.updated", Purpose::kGatherUpdated};
    default: return {Phase::kWeightGradient, "gradients", Purpose::kReduceGradients};
  }
}

}  // namespace

ShardingBuilder::ShardingBuilder(const Setting& setting, const plan::Plan& plan,
                                 const plan::Grid& grid, const plan::Job& job)
    : s_(setting),
      plan_(plan),
      job_(job),
      dense_(dense_spread(plan)),
      routed_(routed_spread(plan)) {
  for (int kind = 0; kind < plan::kGroupKinds; ++kind) {
    group_sizes_[static_cast<std::size_t>(kind)] = grid.size(static_cast<plan::GroupKind>(kind));
  }
}

void ShardingBuilder::add(MessageTemplateBuilder& out, const ShardingGroups& spread,
                          const BlockParameterSizes& size, Moments moments, Stream stream) const {
  for (const DataParallelMoment moment : moments) {
    const Mark mark = mark_of(moment);
    for (const DataMessage& message :
         sharding_messages(plan_.sharding, moment, s_.kernels.scattered_gradients)) {
      out.message(
          {.kind = message.kind,
           .group = spread.group(message.reach),
           .size = spread.ranks(message.reach),
           .elements = ceil_divide(spread.payload(size, moment), spread.parts(message.reach)),
           .dtype = data_message_type(moment, s_.storage, s_.gradient, s_.kernels.wide_gradients),
           .phase = mark.phase,
           .stream = stream,
           .bucket = bucket_elements(plan_, moment),
           .name = mark.name,
           .purpose = mark.purpose});
    }
  }
}

void ShardingBuilder::add(MessageTemplateBuilder& out, const BlockParameterSizes& size,
                          Moments moments, Stream stream) const {
  add(out, dense_, size, moments, stream);
  add(out, routed_, size, moments, stream);
}

void ShardingBuilder::append_host_copy(MessageTemplateBuilder& out, const BlockParameterSizes& size,
                                       DataParallelMoment moment, Stream stream) const {
  if (!plan_.offload.parameters) return;
  const bool down = carries_gradients(moment);
  const Stream own = down ? Stream::kToHost : Stream::kFromHost;
  StateCopies copies = host_state_copies(job_, plan_, dense_, size, moment);
  const StateCopies routed = host_state_copies(job_, plan_, routed_, size, moment);
  for (std::size_t i = 0; i < copies.size(); ++i) {
    copies[i].elements += routed[i].elements;
    if (copies[i].elements == 0) continue;
    out.compute({.kind = down ? OperatorKind::kCopyToHost : OperatorKind::kCopyFromHost,
                 .phase = down ? Phase::kWeightGradient : Phase::kForward,
                 .stream = stream == Stream::kCompute ? stream : own,
                 .dtype = copies[i].type,
                 .shape = {.rows = copies[i].elements},
                 .name = down ? "gradients.to_host" : "parameters.from_host"});
  }
}

BlockParameterSizes ShardingBuilder::gathered_parameter_sizes(BlockParameterSizes unit) const {
  if (!s_.blocks_for_step) return unit;
  unit.dense += std::exchange(unit.frozen_dense, 0);
  unit.expert += std::exchange(unit.frozen_expert, 0);
  return unit;
}

Template ShardingBuilder::gather(const BlockParameterSizes& unit, bool first_use,
                                 bool forward) const {
  MessageTemplateBuilder out("gather");
  const Stream stream = plan_.overlap.parameters ? Stream::kGather : Stream::kCompute;
  if (first_use) add(out, gathered_parameter_sizes(unit), {DataParallelMoment::kAfterStep}, stream);
  append_host_copy(out, unit, DataParallelMoment::kEachUse, stream);
  const Tensor whole = gathered_parameter_tensor(s_, unit);
  if (whole.elements() > 0) {
    out.writes.push_back(out.builder.tensor(whole));
    out.builder.output(out.writes.back());
  }
  const bool stays = whole.elements() == 0;
  if (forward && s_.copies_gathers && (first_use || !stays)) {
    const BlockParameterSizes gathered = gathered_parameter_sizes(unit);
    const std::int64_t elements =
        stays ? gathered.dense + gathered.borrowed + gathered.expert : whole.elements();
    out.writes.push_back(out.builder.tensor({.name = "gather_output",
                                             .kind = TensorKind::kCommunication,
                                             .dtype = s_.storage,
                                             .extents = {elements, 1, 1}}));
    out.builder.output(out.writes.back());
  }
  add(out, unit, {DataParallelMoment::kEachUse}, stream);
  return std::move(out.builder.piece());
}

TensorId ShardingBuilder::add_reduction_input_buffer(MessageTemplateBuilder& out, bool done) const {
  std::int64_t elements = 0;
  for (const TensorId id : out.reads) elements += out.builder.at(id).elements();
  if (elements == 0) return -1;
  if (done) elements = 1;
  const DType type = data_message_type(DataParallelMoment::kEachBackward, s_.storage, s_.gradient,
                                       s_.kernels.wide_gradients);
  out.writes.push_back(out.builder.tensor({.name = "reduction",
                                           .kind = TensorKind::kCommunication,
                                           .dtype = type,
                                           .extents = {elements, 1, 1}}));
  return out.writes.back();
}

Template ShardingBuilder::reduce(const std::vector<BlockParameterSizes>& bucket,
                                 GradientReduction how) const {
  MessageTemplateBuilder out("reduce");
  const Stream stream = plan_.overlap.gradients ? Stream::kReduce : Stream::kCompute;
  BlockParameterSizes sum;
  for (const BlockParameterSizes& unit : bucket) {
    sum += unit;
    const Tensor leaving = block_gradient_tensor(s_, unit);
    if (leaving.elements() > 0) out.reads.push_back(out.builder.input(leaving));
  }
  const TensorId copy =
      s_.copies_gradients ? add_reduction_input_buffer(out, how.done) : TensorId{-1};
  if (how.last) {
    add(out, sum, {DataParallelMoment::kEachBackward, DataParallelMoment::kLastBackward}, stream);
  } else {
    add(out, sum, {DataParallelMoment::kEachBackward}, stream);
  }
  if (copy >= 0 && !out.builder.piece().operators.empty()) out.builder.output(copy);
  out.reads.clear();
  out.writes.clear();
  append_host_copy(out, sum, DataParallelMoment::kEachBackward, stream);
  return std::move(out.builder.piece());
}

RankModelStateBytes ShardingBuilder::states(const BlockParameterSizes& stage) const {
  const plan::Sharding& sharding = plan_.sharding;
  const std::int64_t frozen = frozen_state_shard_elements(plan_, stage);
  const plan::StateDataTypes types = plan::state_types(job_, plan_);
  const OptimizerShare share = optimizer_share(job_, plan_, stage);
  const std::int64_t moved = offloaded_state_bytes(job_, plan_, share);
  const std::int64_t trained =
      size_bytes(types.stored, state_shard_elements(plan_, sharding.parameters, stage));
  // Parameters gathered for a step are stored in addition to their shards; shards of master copies
  // belong to the optimizer.
  const bool beside = s_.blocks_for_step;
  const std::int64_t shards =
      beside ? frozen_state_shard_elements(plan_, sharding.gradients, stage) : 0;
  const bool own_shards = beside && job_.kernels.masters == plan::MasterWeights::kNone;
  const std::int64_t trained_shards =
      own_shards ? size_bytes(types.stored, state_shard_elements(plan_, sharding.gradients, stage))
                 : 0;
  const std::int64_t never = size_bytes(s_.storage, frozen + shards);
  RankModelStateBytes states{
      .parameters = trained + trained_shards + never,
      .frozen = never,
      .for_step = beside              ? trained + size_bytes(s_.storage, frozen)
                  : s_.casts_for_step ? trained
                                      : 0,
      .gradients =
          size_bytes(types.gradient, state_shard_elements(plan_, sharding.gradients, stage)),
      .optimizer = optimizer_state_bytes(job_.optimizer, types, share) - moved,
      .moved = moved,
      .host = host_model_state_bytes(job_, plan_, stage)};
  const std::int64_t narrow = narrow_weight_copy_bytes(job_, plan_, stage);
  states.parameters += narrow;
  states.copies = std::max<std::int64_t>(0, narrow);
  if (plan_.offload.parameters) {
    states.fetched = std::exchange(states.parameters, 0);
    states.frozen = states.gradients = 0;
  }
  const plan::OtherModelCounts others = plan::other_models(job_);
  states.others = {.parameters = others.parameters * states.parameters,
                   .gradients = others.updates * states.gradients,
                   .optimizer = others.updates * states.optimizer};
  return states;
}

}  // namespace stepwright::step
