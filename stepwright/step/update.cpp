// The end of a step: the remaining messages of sharding, the small reductions, the gradient norm
// and the optimizer.
#include "stepwright/step/update.h"

#include <algorithm>

#include "stepwright/core/divide_up.h"
#include "stepwright/plan/frameworks/defaults.h"
#include "stepwright/plan/optimizer_traits.h"
#include "stepwright/step/matrices.h"
#include "stepwright/step/sharding.h"

namespace stepwright::step {
namespace {

Operator update_operator(OperatorKind kind, std::int64_t elements, std::int64_t bytes,
                         DType storage) {
  return {.kind = kind,
          .phase = Phase::kOptimizer,
          .dtype = storage,
          .shape = {.rows = elements, .inner = bytes},
          .name = kind == OperatorKind::kOptimizer ? "optimizer" : "host_optimizer"};
}

Operator copy_operator(OperatorKind kind, std::int64_t elements, DType type) {
  const bool down = kind == OperatorKind::kCopyToHost;
  return {.kind = kind,
          .phase = Phase::kOptimizer,
          .dtype = type,
          .shape = {.rows = elements},
          .name = down ? "gradients.to_host" : "parameters.from_host"};
}

Operator orthogonal_operator(const OptimizerMatrixSizes& matrices, std::string_view name) {
  return {.kind = OperatorKind::kOrthogonalize,
          .phase = Phase::kOptimizer,
          .dtype = DType::kBf16,
          .shape = {.rows = matrices.count,
                    .columns = ceil_divide(matrices.elements, matrices.count),
                    .inner = ceil_divide(matrices.flops, matrices.count)},
          .name = name};
}

/// Adds the host's update. Its parameters, gradients and moments are in the type in which the host
/// computes. The host scales gradients as the framework does. If parameters are stored in host
/// memory, it also writes them in their stored type if that differs. Otherwise parameters return to
/// the device in the computed type, and the device casts them (NVIDIA/Megatron-LM
/// megatron/core/optimizer/cpu_offloading/hybrid_optimizer.py with pytorch/pytorch
/// aten/src/ATen/native/cuda/Copy.cu, copy_kernel_cuda: non_blocking; deepspeedai/DeepSpeed
/// deepspeed/runtime/zero/stage_1_and_2.py, step).
void add_host(std::vector<Operator>& list, const plan::Job& job, const plan::Plan& plan,
              std::int64_t elements) {
  const DType storage = plan::parameter_storage_type(job.precision);
  const plan::StateDataTypes types = plan::state_types(job, plan);
  const OptimizerShare one{.elements = 1};
  const std::int64_t bytes =
      optimizer_update_bytes_per_element(job.optimizer, {types.master, types.master, types.master},
                                         one) +
      plan::host_update_gradient_passes(job, plan) * bytes_of_elements(types.master, 1);
  if (plan.offload.parameters) {
    const std::int64_t more = types.has_master_copies() ? bytes_of_elements(types.stored, 1) : 0;
    list.push_back(update_operator(OperatorKind::kHostOptimizer, elements, bytes + more, storage));
    return;
  }
  list.push_back(copy_operator(OperatorKind::kCopyToHost, elements, types.gradient));
  list.push_back(update_operator(OperatorKind::kHostOptimizer, elements, bytes, storage));
  list.push_back(copy_operator(OperatorKind::kCopyFromHost, elements, types.master));
}

/// One kind of a plan's parameters, dense or routed.
struct Side {
  const plan::Job& job;
  const plan::Plan& plan;
  bool routed = false;

  [[nodiscard]] DType wide() const { return data_type_of_statistics(job.precision); }
  [[nodiscard]] plan::CommunicatorKind tensor_ranks() const {
    return routed ? plan::CommunicatorKind::kExpertTensor : plan::CommunicatorKind::kTensor;
  }
  /// The group of ranks that share optimizer states.
  [[nodiscard]] plan::CommunicatorKind shards() const {
    const ShardingGroups spread = routed ? routed_spread(plan) : dense_spread(plan);
    return spread.group(plan.sharding.optimizer == plan::StateShardingScope::kGlobal
                            ? DataParallelMessageGroup::kWorld
                            : DataParallelMessageGroup::kInner);
  }
};

/// Adds the messages of matrices that are orthogonalized.
void add_parts(std::vector<StepEndMessage>& list, const Side& side, const OptimizerShare& share,
               const OptimizerMatrixSizes& matrices) {
  const auto parts = [&](OperatorPurpose purpose) {
    list.push_back({.group = side.shards(),
                    .elements = share.moves_shards ? matrices.elements : 0,
                    .type = side.wide(),
                    .name = "matrices.parts",
                    .purpose = purpose,
                    .scheme = ParallelismScheme::kData,
                    .kind = OperatorKind::kAllToAll});
  };
  parts(OperatorPurpose::kGatherMatrices);
  const bool sums = side.job.muon == plan::MuonTensorSplit::kDistributed;
  const std::int64_t steps = sums ? kNewtonSchulzSteps : 1;
  const std::int64_t elements = matrices.payload / steps;
  const StepEndMessage of_step{
      .group = side.tensor_ranks(),
      .elements = elements,
      .type = side.wide(),
      .name = sums ? "matrices.products" : "matrices.gradients",
      .purpose = sums ? OperatorPurpose::kShareProducts : OperatorPurpose::kGatherMatrices,
      .scheme = ParallelismScheme::kTensor,
      .kind = sums ? OperatorKind::kAllReduce : OperatorKind::kAllGather,
      .bucket = matrices.cut_updates > 0 ? ceil_divide(elements, matrices.cut_updates) : 0};
  list.insert(list.end(), static_cast<std::size_t>(steps), of_step);
  parts(OperatorPurpose::kReturnMatrices);
}

/// Adds the messages of matrices whose sums of rows and columns are kept, and of the norms of all
/// updates.
void add_sums(std::vector<StepEndMessage>& list, const Side& side,
              const OptimizerMatrixSizes& matrices) {
  const bool split = side.plan.sharding.optimizer != plan::StateShardingScope::kNone;
  const auto add = [&](plan::CommunicatorKind group, std::int64_t elements, std::string_view name,
                       OperatorPurpose purpose, OperatorKind kind) {
    const bool squares = purpose == OperatorPurpose::kShareSquares;
    const bool tensor = group == side.tensor_ranks();
    list.push_back({.group = group,
                    .elements = elements,
                    .type = side.wide(),
                    .name = name,
                    .purpose = purpose,
                    .scheme = squares  ? ParallelismScheme::kControl
                              : tensor ? ParallelismScheme::kTensor
                                       : ParallelismScheme::kData,
                    .kind = kind});
  };
  constexpr std::string_view kSums = "matrices.sums";
  constexpr std::string_view kSquares = "updates.squares";
  const std::int64_t moments = split ? matrices.numbers : 0;
  add(side.tensor_ranks(), matrices.payload, kSums, OperatorPurpose::kShareSums,
      OperatorKind::kAllReduce);
  add(side.shards(), moments, kSums, OperatorPurpose::kShareSums, OperatorKind::kReduceScatter);
  add(side.shards(), moments, "matrices.moments", OperatorPurpose::kGatherMoments,
      OperatorKind::kAllGather);
  add(side.shards(), split ? matrices.updates : 0, kSquares, OperatorPurpose::kShareSquares,
      OperatorKind::kAllReduce);
  add(side.tensor_ranks(), matrices.cut_updates, kSquares, OperatorPurpose::kShareSquares,
      OperatorKind::kAllReduce);
}

}  // namespace

Operator gradient_norm_operator(std::int64_t elements, DType gradient) {
  return {.kind = OperatorKind::kNormSquare,
          .phase = Phase::kOptimizer,
          .dtype = gradient,
          .shape = {.rows = elements},
          .name = "gradient_norm"};
}

std::vector<Operator> update_operators(const plan::Job& job, const plan::Plan& plan,
                                       const OptimizerShare& share) {
  std::vector<Operator> list;
  const bool orthogonal =
      plan::traits_of(job.optimizer).acts_on == plan::MatrixUpdateScope::kLayerMatrices;
  if (orthogonal && share.dense.count > 0) {
    list.push_back(orthogonal_operator(share.dense, kOrthogonalizeDenseOperatorName));
  }
  if (orthogonal && share.expert.count > 0) {
    list.push_back(orthogonal_operator(share.expert, kOrthogonalizeExpertName));
  }
  const DType storage = plan::parameter_storage_type(job.precision);
  const std::int64_t bytes =
      optimizer_update_bytes_per_element(job.optimizer, plan::state_types(job, plan), share);
  const std::int64_t moved = host_updated_elements(plan, share);
  // If the host updates everything, the device keeps an operator of one element, to which the pause
  // between steps is attached.
  const std::int64_t own =
      moved > 0 ? std::max<std::int64_t>(1, share.elements - moved) : share.elements;
  list.push_back(update_operator(OperatorKind::kOptimizer, own, bytes, storage));
  if (!plan::traits_of(job.optimizer).fused_adam)
    list.back().purpose = OperatorPurpose::kOtherUpdate;
  if (moved > 0) add_host(list, job, plan, moved);
  return list;
}

std::vector<Operator> parameter_unpack_operators(const plan::Job& job, const plan::Plan& plan,
                                                 const ModelBlockParameterCounts& size) {
  std::vector<Operator> list;
  if (!job.kernels.refresh_by_tensor || gathers_updates_by_block(plan)) return list;
  for (const ShardingGroups& spread : {dense_spread(plan), routed_spread(plan)}) {
    const std::int64_t elements =
        spread.data_parallel_payload_elements(size, DataParallelMessageMoment::kAfterStep);
    std::int64_t ranks = 0;
    for (const DataMessage& gather : data_parallel_messages_of_sharding(
             plan.sharding, DataParallelMessageMoment::kAfterStep, true)) {
      if (spread.ranks(gather.reach) > 1) ranks += spread.ranks(gather.reach);
    }
    if (elements == 0 || ranks == 0) continue;
    list.push_back(
        {.kind = OperatorKind::kUnpack,
         .phase = Phase::kOptimizer,
         .dtype = plan::parameter_storage_type(job.precision),
         .shape = {.rows = elements, .columns = 1, .batch = ranks * spread.tensors(size)},
         .name = "parameters.unpacked"});
  }
  return list;
}

std::vector<StepEndMessage> matrix_optimizer_messages(const plan::Job& job, const plan::Plan& plan,
                                                      const OptimizerShare& share) {
  std::vector<StepEndMessage> list;
  const plan::OptimizerTraits& traits = plan::traits_of(job.optimizer);
  if (traits.acts_on == plan::MatrixUpdateScope::kElements) return list;
  for (const bool routed : {false, true}) {
    const OptimizerMatrixSizes& matrices = routed ? share.expert : share.dense;
    if (traits.sums_edges) {
      add_sums(list, {job, plan, routed}, matrices);
    } else {
      add_parts(list, {job, plan, routed}, share, matrices);
    }
  }
  return list;
}

void ShardingBuilder::add_end(MessageTemplateBuilder& out, const StepEndMessage& message) const {
  out.message({.kind = message.kind,
               .group = message.group,
               .size = group_sizes_[static_cast<std::size_t>(message.group)],
               .elements = message.elements,
               .dtype = message.type,
               .phase = Phase::kOptimizer,
               .bucket = message.bucket,
               .name = message.name,
               .purpose = message.purpose,
               .scheme = message.scheme});
}

OperatorTemplate ShardingBuilder::update(const StepUpdateSizes& what) const {
  MessageTemplateBuilder out("update");
  if (!reduces_in_buckets(plan_))
    add(out, what.stage, {DataParallelMessageMoment::kLastBackward}, DeviceStream::kCompute);
  const StepEndSumSizes end{.partial = what.stage.partial,
                            .expert_partial = what.stage.expert_partial,
                            .tied_table = what.tied_table,
                            .loss = what.loss,
                            .experts = what.experts,
                            .loads = what.loads,
                            .shares_rows = s_.sequence_parallel};
  for (const StepEndMessage& message : partial_gradient_all_reduces(plan_, end))
    add_end(out, message);
  const OptimizerShare share = optimizer_share(job_, plan_, what.stage);
  out.compute(gradient_norm_operator(share.elements, plan::state_types(job_, plan_).gradient));
  for (const StepEndMessage& message : step_statistics_all_reduces(end, s_.exact))
    add_end(out, message);
  const std::vector<StepEndMessage> messages = matrix_optimizer_messages(job_, plan_, share);
  const auto returns = [](const StepEndMessage& m) {
    return m.purpose == OperatorPurpose::kReturnMatrices;
  };
  for (const StepEndMessage& message : messages) {
    if (!returns(message)) add_end(out, message);
  }
  for (const Operator& op : update_operators(job_, plan_, share)) {
    const bool last = op.kind == OperatorKind::kOptimizer;
    for (const StepEndMessage& message : messages) {
      if (last && returns(message)) add_end(out, message);
    }
    out.compute(op);
  }
  if (!gathers_updates_by_block(plan_))
    add(out, what.stage, {DataParallelMessageMoment::kAfterStep}, DeviceStream::kCompute);
  for (const Operator& op : parameter_unpack_operators(job_, plan_, what.stage)) out.compute(op);
  return std::move(out.builder.piece());
}

}  // namespace stepwright::step
