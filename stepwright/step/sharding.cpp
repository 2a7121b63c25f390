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
  OperatorPurpose purpose{};
};

Mark mark_of(DataParallelMessageMoment moment) {
  switch (moment) {
    case DataParallelMessageMoment::kEachUse:
      return {Phase::kForward, "parameters", OperatorPurpose::kGatherParameters};
    case DataParallelMessageMoment::kAfterStep:
      return {Phase::kOptimizer, "parameters.updated", OperatorPurpose::kGatherUpdated};
    default: return {Phase::kWeightGradient, "gradients", OperatorPurpose::kReduceGradients};
  }
}

}  // namespace

ShardingBuilder::ShardingBuilder(const StepBuildSettings& setting, const plan::Plan& plan,
                                 const plan::RankGrid& grid, const plan::Job& job)
    : s_(setting),
      plan_(plan),
      job_(job),
      dense_(dense_spread(plan)),
      routed_(routed_spread(plan)) {
  for (int kind = 0; kind < plan::kGroupKinds; ++kind) {
    group_sizes_[static_cast<std::size_t>(kind)] =
        grid.size(static_cast<plan::CommunicatorKind>(kind));
  }
}

void ShardingBuilder::add(MessageTemplateBuilder& out, const ShardingGroups& spread,
                          const ModelBlockParameterCounts& size, Moments moments,
                          DeviceStream stream) const {
  for (const DataParallelMessageMoment moment : moments) {
    const Mark mark = mark_of(moment);
    for (const DataMessage& message : data_parallel_messages_of_sharding(
             plan_.sharding, moment, s_.kernels.scattered_gradients)) {
      out.message({.kind = message.kind,
                   .group = spread.group(message.reach),
                   .size = spread.ranks(message.reach),
                   .elements = ceil_divide(spread.data_parallel_payload_elements(size, moment),
                                           spread.message_payload_divisor(message.reach)),
                   .dtype = data_parallel_message_dtype(moment, s_.storage, s_.gradient,
                                                        s_.kernels.wide_gradients),
                   .phase = mark.phase,
                   .stream = stream,
                   .bucket = bucket_elements(plan_, moment),
                   .name = mark.name,
                   .purpose = mark.purpose});
    }
  }
}

void ShardingBuilder::add(MessageTemplateBuilder& out, const ModelBlockParameterCounts& size,
                          Moments moments, DeviceStream stream) const {
  add(out, dense_, size, moments, stream);
  add(out, routed_, size, moments, stream);
}

void ShardingBuilder::append_state_host_copy(MessageTemplateBuilder& out,
                                             const ModelBlockParameterCounts& size,
                                             DataParallelMessageMoment moment,
                                             DeviceStream stream) const {
  if (!plan_.offload.parameters) return;
  const bool down = moment_carries_gradients(moment);
  const DeviceStream own = down ? DeviceStream::kToHost : DeviceStream::kFromHost;
  StateCopies copies = offloaded_state_copy_elements(job_, plan_, dense_, size, moment);
  const StateCopies routed = offloaded_state_copy_elements(job_, plan_, routed_, size, moment);
  for (std::size_t i = 0; i < copies.size(); ++i) {
    copies[i].elements += routed[i].elements;
    if (copies[i].elements == 0) continue;
    out.compute({.kind = down ? OperatorKind::kCopyToHost : OperatorKind::kCopyFromHost,
                 .phase = down ? Phase::kWeightGradient : Phase::kForward,
                 .stream = stream == DeviceStream::kCompute ? stream : own,
                 .dtype = copies[i].type,
                 .shape = {.rows = copies[i].elements},
                 .name = down ? "gradients.to_host" : "parameters.from_host"});
  }
}

ModelBlockParameterCounts ShardingBuilder::gathered_parameter_sizes(
    ModelBlockParameterCounts unit) const {
  if (!s_.blocks_for_step) return unit;
  unit.dense += std::exchange(unit.frozen_dense, 0);
  unit.expert += std::exchange(unit.frozen_expert, 0);
  return unit;
}

OperatorTemplate ShardingBuilder::build_parameter_gather_template(
    const ModelBlockParameterCounts& unit, bool first_use, bool forward) const {
  MessageTemplateBuilder out("gather");
  const DeviceStream stream =
      plan_.overlap.parameters ? DeviceStream::kGather : DeviceStream::kCompute;
  if (first_use)
    add(out, gathered_parameter_sizes(unit), {DataParallelMessageMoment::kAfterStep}, stream);
  append_state_host_copy(out, unit, DataParallelMessageMoment::kEachUse, stream);
  const TemplateTensor whole = gathered_parameter_tensor(s_, unit);
  if (whole.elements() > 0) {
    out.writes.push_back(out.builder.tensor(whole));
    out.builder.output(out.writes.back());
  }
  const bool stays = whole.elements() == 0;
  if (forward && s_.copies_gathers && (first_use || !stays)) {
    const ModelBlockParameterCounts gathered = gathered_parameter_sizes(unit);
    const std::int64_t elements =
        stays ? gathered.dense + gathered.borrowed + gathered.expert : whole.elements();
    out.writes.push_back(out.builder.tensor({.name = "gather_output",
                                             .kind = TensorPurpose::kCommunication,
                                             .dtype = s_.storage,
                                             .extents = {elements, 1, 1}}));
    out.builder.output(out.writes.back());
  }
  add(out, unit, {DataParallelMessageMoment::kEachUse}, stream);
  return std::move(out.builder.piece());
}

TensorId ShardingBuilder::add_reduction_input_buffer(MessageTemplateBuilder& out, bool done) const {
  std::int64_t elements = 0;
  for (const TensorId id : out.reads) elements += out.builder.at(id).elements();
  if (elements == 0) return -1;
  if (done) elements = 1;
  const DType type = data_parallel_message_dtype(
      DataParallelMessageMoment::kEachBackward, s_.storage, s_.gradient, s_.kernels.wide_gradients);
  out.writes.push_back(out.builder.tensor({.name = "reduction",
                                           .kind = TensorPurpose::kCommunication,
                                           .dtype = type,
                                           .extents = {elements, 1, 1}}));
  return out.writes.back();
}

OperatorTemplate ShardingBuilder::build_gradient_reduction_template(
    const std::vector<ModelBlockParameterCounts>& bucket, GradientReduction how) const {
  MessageTemplateBuilder out("reduce");
  const DeviceStream stream =
      plan_.overlap.gradients ? DeviceStream::kReduce : DeviceStream::kCompute;
  ModelBlockParameterCounts sum;
  for (const ModelBlockParameterCounts& unit : bucket) {
    sum += unit;
    const TemplateTensor leaving = block_gradient_tensor(s_, unit);
    if (leaving.elements() > 0) out.reads.push_back(out.builder.add_input_tensor(leaving));
  }
  const TensorId copy =
      s_.copies_gradients ? add_reduction_input_buffer(out, how.done) : TensorId{-1};
  if (how.last) {
    add(out, sum,
        {DataParallelMessageMoment::kEachBackward, DataParallelMessageMoment::kLastBackward},
        stream);
  } else {
    add(out, sum, {DataParallelMessageMoment::kEachBackward}, stream);
  }
  if (copy >= 0 && !out.builder.piece().operators.empty()) out.builder.output(copy);
  out.reads.clear();
  out.writes.clear();
  append_state_host_copy(out, sum, DataParallelMessageMoment::kEachBackward, stream);
  return std::move(out.builder.piece());
}

RankModelStateBytes ShardingBuilder::states(const ModelBlockParameterCounts& stage) const {
  const plan::Sharding& sharding = plan_.sharding;
  const std::int64_t frozen = frozen_state_shard_elements(plan_, stage);
  const plan::StateDataTypes types = plan::state_types(job_, plan_);
  const OptimizerShare share = optimizer_share(job_, plan_, stage);
  const std::int64_t moved = offloaded_state_bytes(job_, plan_, share);
  const std::int64_t trained =
      bytes_of_elements(types.stored, state_shard_elements(plan_, sharding.parameters, stage));
  // Parameters gathered for a step are stored in addition to their shards; shards of master copies
  // belong to the optimizer.
  const bool beside = s_.blocks_for_step;
  const std::int64_t shards =
      beside ? frozen_state_shard_elements(plan_, sharding.gradients, stage) : 0;
  const bool own_shards = beside && job_.kernels.masters == plan::MasterWeights::kNone;
  const std::int64_t trained_shards =
      own_shards
          ? bytes_of_elements(types.stored, state_shard_elements(plan_, sharding.gradients, stage))
          : 0;
  const std::int64_t never = bytes_of_elements(s_.storage, frozen + shards);
  RankModelStateBytes states{
      .parameters = trained + trained_shards + never,
      .frozen = never,
      .for_step = beside              ? trained + bytes_of_elements(s_.storage, frozen)
                  : s_.casts_for_step ? trained
                                      : 0,
      .gradients =
          bytes_of_elements(types.gradient, state_shard_elements(plan_, sharding.gradients, stage)),
      .optimizer = optimizer_state_bytes(job_.optimizer, types, share) - moved,
      .moved = moved,
      .host = host_model_state_bytes(job_, plan_, stage)};
  const std::int64_t narrow = low_precision_weight_copy_bytes(job_, plan_, stage);
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
