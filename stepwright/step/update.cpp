// The end of a step: what sharding leaves to it, the small reductions, the norm and the optimizer.
#include "stepwright/step/update.h"

#include <algorithm>

#include "stepwright/core/divide_up.h"
#include "stepwright/plan/frameworks/defaults.h"
#include "stepwright/plan/optimizer_traits.h"
#include "stepwright/step/matrices.h"
#include "stepwright/step/sharding.h"

namespace stepwright {
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

Operator orthogonal_operator(const MatrixSize& matrices, std::string_view name) {
  return {.kind = OperatorKind::kOrthogonalize,
          .phase = Phase::kOptimizer,
          .dtype = DType::kBf16,
          .shape = {.rows = matrices.count,
                    .columns = divide_up(matrices.elements, matrices.count),
                    .inner = divide_up(matrices.flops, matrices.count)},
          .name = name};
}

/// Parameters, gradients and moments of an update of the host are in the type that it computes in.
/// Gradients are scaled there as the framework does; where all lies there it also writes the
/// parameters as they are stored where those are others. Else parameters come up as they were
/// computed, and the device casts them (NVIDIA/Megatron-LM
/// megatron/core/optimizer/cpu_offloading/hybrid_optimizer.py with pytorch/pytorch
/// aten/src/ATen/native/cuda/Copy.cu, copy_kernel_cuda: non_blocking; deepspeedai/DeepSpeed
/// deepspeed/runtime/zero/stage_1_and_2.py, step).
void add_host(std::vector<Operator>& list, const Job& job, const Plan& plan,
              std::int64_t elements) {
  const DType storage = storage_type(job.precision);
  const StateTypes types = state_types(job, plan);
  const OptimizerShare one{.elements = 1};
  const std::int64_t bytes =
      update_bytes_of_element(job.optimizer, {types.master, types.master, types.master}, one) +
      host_passes(job, plan) * size_bytes(types.master, 1);
  if (plan.offload.parameters) {
    const std::int64_t more = types.copies() ? size_bytes(types.stored, 1) : 0;
    list.push_back(update_operator(OperatorKind::kHostOptimizer, elements, bytes + more, storage));
    return;
  }
  list.push_back(copy_operator(OperatorKind::kCopyToHost, elements, types.gradient));
  list.push_back(update_operator(OperatorKind::kHostOptimizer, elements, bytes, storage));
  list.push_back(copy_operator(OperatorKind::kCopyFromHost, elements, types.master));
}

}  // namespace

Operator norm_operator(std::int64_t elements, DType gradient) {
  return {.kind = OperatorKind::kNormSquare,
          .phase = Phase::kOptimizer,
          .dtype = gradient,
          .shape = {.rows = elements},
          .name = "gradient_norm"};
}

std::vector<Operator> update_operators(const Job& job, const Plan& plan,
                                       const OptimizerShare& share) {
  std::vector<Operator> list;
  if (share.dense.count > 0) list.push_back(orthogonal_operator(share.dense, kDenseMatrices));
  if (share.expert.count > 0) list.push_back(orthogonal_operator(share.expert, kExpertMatrices));
  const DType storage = storage_type(job.precision);
  const std::int64_t bytes = update_bytes_of_element(job.optimizer, state_types(job, plan), share);
  const std::int64_t moved = moved_elements(plan, share);
  // One that does nothing is left, which the pause between steps stands beside.
  const std::int64_t own =
      moved > 0 ? std::max<std::int64_t>(1, share.elements - moved) : share.elements;
  list.push_back(update_operator(OperatorKind::kOptimizer, own, bytes, storage));
  if (!traits_of(job.optimizer).fused_adam) list.back().purpose = Purpose::kOtherUpdate;
  if (moved > 0) add_host(list, job, plan, moved);
  return list;
}

std::array<EndMessage, 4> matrix_messages(const Job& job, const Plan& plan,
                                          const OptimizerShare& share) {
  const bool sums = job.muon == MuonForm::kDistributed;
  const DType wide = storage_type(job.precision) == DType::kFp64 ? DType::kFp64 : DType::kFp32;
  const auto between_tensor_ranks = [&](const MatrixSize& matrices, GroupKind group) {
    const std::int64_t times = matrices.count * (sums ? kOrthogonalSteps : 1);
    return EndMessage{.group = group,
                      .elements = matrices.payload,
                      .type = wide,
                      .name = sums ? "matrices.products" : "matrices.gradients",
                      .purpose = sums ? Purpose::kShareProducts : Purpose::kGatherMatrices,
                      .scheme = Scheme::kTensor,
                      .kind = sums ? OperatorKind::kAllReduce : OperatorKind::kAllGather,
                      .bucket = times > 0 ? divide_up(matrices.payload, times) : 0};
  };
  const auto of_shards = [&](const MatrixSize& matrices, bool routed) {
    const StateSpread spread = routed ? routed_spread(plan) : dense_spread(plan);
    const bool all = plan.sharding.optimizer == Spread::kGlobal;
    return EndMessage{.group = spread.group(all ? Reach::kWorld : Reach::kInner),
                      .elements = share.moves_shards ? 2 * matrices.elements : 0,
                      .type = wide,
                      .name = "matrices.parts",
                      .purpose = Purpose::kGatherMatrices,
                      .scheme = Scheme::kData,
                      .kind = OperatorKind::kAllToAll,
                      .bucket = matrices.elements};
  };
  return {of_shards(share.dense, false), of_shards(share.expert, true),
          between_tensor_ranks(share.dense, GroupKind::kTensor),
          between_tensor_ranks(share.expert, GroupKind::kExpertTensor)};
}

void ShardingBuilder::add_end(MessageWriter& out, const EndMessage& message) const {
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

Template ShardingBuilder::update(const Update& what) const {
  MessageWriter out("update");
  if (!reduces_in_buckets(plan_))
    add(out, what.stage, {DataMoment::kLastBackward}, Stream::kCompute);
  const StepEnd end{.partial = what.stage.partial,
                    .expert_partial = what.stage.expert_partial,
                    .tied_table = what.tied_table,
                    .loss = what.loss,
                    .experts = what.experts,
                    .loads = what.loads,
                    .shares_rows = s_.sequence_parallel};
  for (const EndMessage& message : partial_gradients(plan_, end)) add_end(out, message);
  const OptimizerShare share = optimizer_share(job_, plan_, what.stage);
  out.compute(norm_operator(share.elements, state_types(job_, plan_).gradient));
  for (const EndMessage& message : step_numbers(end, s_.exact)) add_end(out, message);
  for (const EndMessage& message : matrix_messages(job_, plan_, share)) add_end(out, message);
  for (const Operator& op : update_operators(job_, plan_, share)) out.compute(op);
  if (!refreshes_in_blocks(plan_)) add(out, what.stage, {DataMoment::kAfterStep}, Stream::kCompute);
  return std::move(out.builder.piece());
}

}  // namespace stepwright
