#pragma once

#include <cstdint>

#include "stepwright/plan/job.h"
#include "stepwright/step/program.h"

namespace stepwright::memory {

/// Bytes in PyTorch's allocator that the framework (`HeldMemory`, plan/frameworks/) holds in a
/// process of one pipeline position, in addition to model states and the program's tensors.
struct HeldBytes {
  /// Bytes held from the first step on: workspaces, and the buffer that products share.
  double always = 0;
  /// Bytes held while micro-batches are computed: the batch itself.
  double in_passes = 0;
  /// Bytes held from the update to the next step: narrow gradients as fp32.
  double between_steps = 0;
  /// Bytes of one input of a chunk. Its module keeps the input of its last micro-batch, and that
  /// input's gradient, until the next micro-batch replaces them.
  double stage_input = 0;
  /// True if the framework holds memory of the kind `HeldMemory::kFreshGradients`.
  bool fresh_gradients = false;
  /// True if the framework holds memory of the kind `HeldMemory::kWholeFirstStage`.
  bool whole_first_stage = false;
};

/// Bytes of the workspace of one cuBLAS handle in PyTorch. Source: pytorch
/// aten/src/ATen/cuda/CublasHandlePool.cpp, parseChosenWorkspaceSize: 32 MiB for compute capability
/// 9, `:4096:2:16:8` for others, or the value of CUBLAS_WORKSPACE_CONFIG, which deterministic runs
/// set to `:4096:8`.
double blas_workspace_bytes(const cluster::Device& device, bool deterministic);

/// Bytes of the workspace of one product of Transformer Engine. Source: NVIDIA/TransformerEngine
/// transformer_engine/pytorch/module/base.py, get_cublas_workspace_size_bytes.
double engine_workspace_bytes(const cluster::Device& device);

/// Returns the bytes that the framework holds on a position; all 0 if the framework is unknown.
HeldBytes held_bytes(const plan::Job& job, const step::StepProgram& program,
                     const step::Stage& stage);

}  // namespace stepwright::memory
