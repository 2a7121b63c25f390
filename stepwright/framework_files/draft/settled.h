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

/// How files take the loss: `Kernels::loss_chunks` and `Kernels::loss_keeps`.
struct LossWords {
  std::int64_t chunks = 1;
  plan::LossKeeps keeps = plan::LossKeeps::kLogits;
};
/// linkedin/Liger-Kernel src/liger_kernel/ops/fused_linear_cross_entropy.py: gradients in the
/// forward, of chunks of a size that follows from the model's.
inline constexpr LossWords kLigerLoss{0, plan::LossKeeps::kGradients};
/// Cut cross entropy: apple/ml-cross-entropy cut_cross_entropy/cce.py.
inline constexpr LossWords kCutLoss{1, plan::LossKeeps::kSums};

/// The plan and its job as files say them, but for batch, model and devices.
struct Settled {
  plan::Plan plan;
  DType precision = DType::kBf16;
  plan::Optimizer optimizer = plan::Optimizer::kAdamW;
  plan::MuonForm muon = plan::MuonForm::kDuplicated;
  plan::Dispatcher dispatcher = plan::Dispatcher::kAllToAll;
  double capacity_factor = 0;  ///< 0: experts take as many rows as come.
  bool pad_to_capacity = false;
  /// Kernel of attention; nullopt: the framework's.
  std::optional<cluster::AttentionKernel> attention;
  bool fused_cross_entropy = false;
  plan::CrossEntropy fused_loss = plan::CrossEntropy::kCompiled;  ///< Where it is fused.
  std::vector<std::pair<bool plan::Kernels::*, bool>> kernels;    ///< That files switch on or off.
  plan::CudaGraphs cuda_graphs;
  plan::Framework framework;
  plan::TrainingMethod method;  ///< How the files learn.
  plan::Space space;            ///< Choices that a search may make under the words of the files.
  /// True if files leave the kernel of attention to PyTorch (sdpa), not to their program.
  bool pytorch_attention = false;
  std::optional<std::int64_t> host_threads;       ///< Threads of a process, as `Job::host_threads`.
  std::optional<plan::TensorInput> tensor_input;  ///< Kept by adapters in sequence parallelism.
  std::optional<LossWords> loss;
  /// The type in which updates compute, if the type of parameters says it.
  std::optional<plan::Masters> masters;
  /// Ranks that share the states of experts; nullopt: as many as those of the rest.
  std::optional<std::int64_t> expert_group;
  /// True if files say neither overlap, asynchronous tensor parallelism apart, nor what products
  /// keep: the framework's defaults hold.
  bool framework_overlap = false;
  bool framework_gradients = false;  ///< True if files do not say the type of summed gradients.
  /// Why the framework itself would not start the job, though the plan is legal.
  std::optional<plan::Rejected> refused;

  /// Computes the head and its loss with Liger's kernel, if `on`.
  void take_liger(bool on) {
    if (!on) return;
    fused_cross_entropy = true;
    loss = kLigerLoss;
  }
};

}  // namespace stepwright::framework_files
