#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "stepwright/cluster/attention_kernel.h"
#include "stepwright/core/dtype.h"
#include "stepwright/plan/job.h"
#include "stepwright/plan/laws/legality.h"

namespace stepwright::framework_files {

/// How a program computes the cross entropy: number of chunks (`FrameworkKernels::loss_chunks`) and
/// tensors kept for the backward pass (`FrameworkKernels::loss_keeps`).
struct LossComputation {
  std::int64_t chunks = 1;
  plan::LossSavedTensors keeps = plan::LossSavedTensors::kLogits;
};
/// Liger's fused linear cross entropy: gradients are computed in the forward pass, in chunks whose
/// number follows from the model's sizes. Source: linkedin/Liger-Kernel
/// src/liger_kernel/ops/fused_linear_cross_entropy.py.
inline constexpr LossComputation kLigerFusedCrossEntropy{0, plan::LossSavedTensors::kGradients};
/// Cut cross entropy, which never stores logits. Source: apple/ml-cross-entropy
/// cut_cross_entropy/cce.py.
inline constexpr LossComputation kCutCrossEntropyLoss{1, plan::LossSavedTensors::kSums};

/// The part of an imported plan and job that is known so far: everything that a framework's files
/// state, except batch, model and devices.
struct PartialPlan {
  plan::Plan plan;
  DType precision = DType::kBf16;
  plan::Optimizer optimizer = plan::Optimizer::kAdamW;
  plan::MuonTensorSplit muon = plan::MuonTensorSplit::kDuplicated;
  plan::TokenDispatcher dispatcher = plan::TokenDispatcher::kAllToAll;
  /// Capacity factor of experts: most tokens that an expert accepts, relative to an even
  /// distribution; 0: no limit.
  double capacity_factor = 0;
  bool pad_to_capacity = false;
  /// Attention kernel that the imported files choose; nullopt: the framework's default.
  std::optional<cluster::AttentionKernel> attention;
  bool fused_cross_entropy = false;
  /// Kernel of the cross entropy; used only if `fused_cross_entropy`.
  plan::CrossEntropyKernel fused_loss = plan::CrossEntropyKernel::kCompiled;
  /// Kernels that the imported files switch on or off: member of `FrameworkKernels`, and whether
  /// the kernel is on.
  std::vector<std::pair<bool plan::FrameworkKernels::*, bool>> kernels;
  plan::CudaGraphScope cuda_graphs;
  plan::TrainingFramework framework;
  /// Training method (pretraining, DPO, GRPO, ...) that the imported files state.
  plan::TrainingMethod method;
  /// Values to which a search for a better plan is restricted, because the program that the
  /// imported files start supports no others.
  plan::TunerSearchSpace space;
  /// True if the imported files leave the choice of the attention kernel to PyTorch (sdpa), not to
  /// their program.
  bool pytorch_attention = false;
  /// CPU threads with which each process updates optimizer states in host memory; nullopt: not
  /// stated.
  std::optional<std::int64_t> host_threads;
  /// Whether column-parallel layers keep or regather their input for weight gradients under
  /// sequence parallelism; nullopt: not stated.
  std::optional<plan::GatheredInputPolicy> tensor_input;
  std::optional<LossComputation> loss;
  /// Whether updates of 16-bit parameters use fp32 master weights; nullopt: the framework's
  /// default.
  std::optional<plan::MasterWeights> masters;
  /// Number of ranks in each group that shards the states of experts, under hybrid sharding;
  /// nullopt: as many groups as for the other states.
  std::optional<std::int64_t> expert_group;
  /// True if files state neither communication overlap (except asynchronous tensor parallelism) nor
  /// the input that tensor-parallel layers keep, so that the framework's defaults apply.
  bool framework_overlap = false;
  /// True if files do not state the type in which gradients are accumulated, so that the
  /// framework's default applies.
  bool framework_gradients = false;
  /// Why the framework itself would not start the job, although the plan is legal; nullopt: it
  /// would.
  std::optional<plan::PlanRejection> refused;

  /// If `on`, selects Liger's fused kernel for the output layer and its cross entropy.
  void apply_liger_loss(bool on) {
    if (!on) return;
    fused_cross_entropy = true;
    loss = kLigerFusedCrossEntropy;
  }
};

}  // namespace stepwright::framework_files
