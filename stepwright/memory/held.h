#pragma once

#include <cstdint>

#include "stepwright/plan/job.h"
#include "stepwright/step/program.h"

namespace stepwright::memory {

/// Bytes in PyTorch's allocator that a framework holds on one rank in addition to model states and
/// the tensors of the step, such as workspaces and buffers.
struct FrameworkHeldBytes {
  /// Bytes held from the first step on: workspaces, and a buffer that matrix products share.
  double always = 0;
  /// Bytes of one micro-batch's tokens, labels and masks, held while micro-batches are computed.
  double in_passes = 0;
  /// Bytes held from the optimizer's update to the next step: fp32 copies of 16-bit gradients.
  double between_steps = 0;
  /// Bytes of one input of a model chunk, such as the rows of the residual stream. The framework
  /// keeps the chunk's last input, and that input's gradient, until the next micro-batch replaces
  /// them.
  double stage_input = 0;
  /// True if the framework allocates gradients in the first backward of each step and frees them
  /// before the next step's.
  bool fresh_gradients = false;
  /// True if the framework does not split the backward of the first stage into data and weight
  /// gradients.
  bool whole_first_stage = false;
};

/// Returns the bytes of PyTorch's workspace for one cuBLAS handle: 32 MiB for compute capability 9,
/// `:4096:2:16:8` for others, `:4096:8` in deterministic runs (CUBLAS_WORKSPACE_CONFIG). Source:
/// pytorch aten/src/ATen/cuda/CublasHandlePool.cpp, parseChosenWorkspaceSize.
double blas_workspace_bytes(const cluster::DeviceModel& device, bool deterministic);

/// Returns the bytes of Transformer Engine's workspace for one matrix product. Source:
/// NVIDIA/TransformerEngine transformer_engine/pytorch/module/base.py,
/// get_cublas_workspace_size_bytes.
double transformer_engine_workspace_bytes(const cluster::DeviceModel& device);

/// Returns the bytes that the job's framework holds on a rank of a pipeline stage; all 0 if the
/// framework is unknown.
FrameworkHeldBytes framework_held_bytes(const plan::Job& job, const step::StepProgram& program,
                                        const step::PipelineStageProgram& stage);

}  // namespace stepwright::memory
