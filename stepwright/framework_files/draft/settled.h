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

/// How a program computes the loss: `Kernels::loss_chunks` and `Kernels::loss_keeps`.
struct LossWords {
  std::int64_t chunks = 1;
  plan::LossSavedTensors keeps = plan::LossSavedTensors::kLogits;
};
/// Loss of Liger's kernel (linkedin/Liger-Kernel
/// src/liger_kernel/ops/fused_linear_cross_entropy.py): gradients are computed in the forward, in
/// chunks whose size follows from the model's.
inline constexpr LossWords kLigerLoss{0, plan::LossSavedTensors::kGradients};
/// Loss of cut cross entropy: apple/ml-cross-entropy cut_cross_entropy/cce.py.
inline constexpr LossWords kCutCrossEntropyLoss{1, plan::LossSavedTensors::kSums};

/// The plan and the parts of its job that files state, without batch, model and devices.
struct PartialPlan {
  plan::Plan plan;
  DType precision = DType::kBf16;
  plan::Optimizer optimizer = plan::Optimizer::kAdamW;
  plan::MuonForm muon = plan::MuonForm::kDuplicated;
  plan::Dispatcher dispatcher = plan::Dispatcher::kAllToAll;
  /// Rows that an expert accepts, relative to its even share; 0: no limit.
  double capacity_factor = 0;
  bool pad_to_capacity = false;
  /// Attention kernel that files choose; nullopt: the framework's default.
  std::optional<cluster::AttentionKernel> attention;
  bool fused_cross_entropy = false;
  /// Kind of the fused loss, if `fused_cross_entropy`.
  plan::CrossEntropy fused_loss = plan::CrossEntropy::kCompiled;
  /// Kernels that files switch on or off.
  std::vector<std::pair<bool plan::Kernels::*, bool>> kernels;
  plan::CudaGraphs cuda_graphs;
  plan::Framework framework;
  plan::TrainingMethod method;  ///< Training method that the files state.
  plan::Space space;            ///< Options that a search may try for these files.
  /// True if files leave the attention kernel to PyTorch (sdpa), not to their program.
  bool pytorch_attention = false;
  /// Host threads of a process, as in `Job::host_threads`; nullopt: not stated.
  std::optional<std::int64_t> host_threads;
  /// Whether column-parallel layers keep or regather their input for weight gradients under
  /// sequence parallelism; nullopt: not stated.
  std::optional<plan::TensorInput> tensor_input;
  std::optional<LossWords> loss;
  /// Type in which the optimizer computes, if the parameter type decides it; else nullopt.
  std::optional<plan::MasterWeights> masters;
  /// Ranks that share the states of experts; nullopt: as many as share the other states.
  std::optional<std::int64_t> expert_group;
  /// True if files state neither overlap (apart from asynchronous tensor parallelism) nor what
  /// products keep, so that the framework's defaults hold.
  bool framework_overlap = false;
  /// True if files do not state the type in which gradients are summed.
  bool framework_gradients = false;
  /// Why the framework itself would not start the job, although the plan is legal; nullopt: it
  /// would.
  std::optional<plan::PlanRejection> refused;

  /// Selects Liger's kernel for the head and its loss, if `on`.
  void apply_liger_loss(bool on) {
    if (!on) return;
    fused_cross_entropy = true;
    loss = kLigerLoss;
  }
};

}  // namespace stepwright::framework_files
