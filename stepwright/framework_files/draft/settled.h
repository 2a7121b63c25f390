#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "stepwright/cluster/attention_kernel.h"
#include "stepwright/core/dtype.h"
#include "stepwright/plan/job.h"

namespace stepwright::framework_files {

/// What rules settle of a plan and of its job.
struct Settled {
  plan::Plan plan;
  DType precision = DType::kBf16;
  plan::Optimizer optimizer = plan::Optimizer::kAdamW;
  plan::MuonForm muon = plan::MuonForm::kDuplicated;
  plan::Dispatcher dispatcher = plan::Dispatcher::kAllToAll;
  double capacity_factor = 0;  ///< 0: experts take as many rows as come.
  bool pad_to_capacity = false;
  std::optional<cluster::AttentionKernel> attention;  ///< nullopt: the framework's.
  bool fused_cross_entropy = false;
  plan::CrossEntropy fused_loss = plan::CrossEntropy::kCompiled;  ///< Where it is fused.
  std::vector<std::pair<bool plan::Kernels::*, bool>> kernels;    ///< That files switch on or off.
  plan::CudaGraphs cuda_graphs;
};

}  // namespace stepwright::framework_files
