#pragma once

#include <cstdint>

#include "stepwright/plan/job.h"
#include "stepwright/step/program.h"

namespace stepwright::memory {

/// Bytes that a process of one pipeline position holds in PyTorch's allocator beside model states
/// and the tensors of its program, as its framework does (`HeldMemory`, plan/frameworks/).
struct HeldBytes {
  /// From the first step on: workspaces and the buffer that products share.
  double always = 0;
  /// While micro-batches are computed: the batch itself.
  double in_passes = 0;
  /// From the update to the next step: narrow gradients as fp32.
  double between_steps = 0;
  /// One input of a chunk: its module keeps that of its last micro-batch, with the gradient, until
  /// the next one takes their place.
  double stage_input = 0;
  bool fresh_gradients = false;    ///< True if `HeldMemory::kFreshGradients` holds.
  bool whole_first_stage = false;  ///< True if `HeldMemory::kWholeFirstStage` holds.
};

/// The workspace of one cuBLAS handle of PyTorch. Source: pytorch
/// aten/src/ATen/cuda/CublasHandlePool.cpp, parseChosenWorkspaceSize: 32 MiB of compute capability
/// 9, `:4096:2:16:8` of others, and what CUBLAS_WORKSPACE_CONFIG says, which deterministic runs
/// set to `:4096:8`.
double blas_workspace_bytes(const cluster::Device& device, bool deterministic);

/// The workspace of one product of Transformer Engine. Source: NVIDIA/TransformerEngine
/// transformer_engine/pytorch/module/base.py, get_cublas_workspace_size_bytes.
double engine_workspace_bytes(const cluster::Device& device);

/// Returns the bytes that a position holds; 0 of each where its framework is not known.
HeldBytes held_bytes(const plan::Job& job, const step::StepProgram& program,
                     const step::Stage& stage);

}  // namespace stepwright::memory
