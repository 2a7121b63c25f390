#pragma once

#include <vector>

#include "stepwright/plan/job.h"
#include "stepwright/step/program.h"

namespace stepwright::memory {

/// Device memory of one pipeline stage as PyTorch's caching allocator counts it (whole bytes):
/// model states, tensors of the step and memory that the framework holds. CUDA's context, NCCL's
/// buffers and fragmentation are not in it.
struct PyTorchAllocatedMemory {
  /// Bytes allocated between two steps (`torch.cuda.memory_allocated`).
  double after_step_bytes = 0;
  /// Bytes allocated at the peak of a step (`torch.cuda.max_memory_allocated`).
  double peak_bytes = 0;
};

/// Returns the memory that PyTorch's allocator would report for every pipeline stage, from the
/// second step on.
std::vector<PyTorchAllocatedMemory> pytorch_allocated_memory(const plan::Job& job,
                                                             const step::StepProgram& program);

}  // namespace stepwright::memory
