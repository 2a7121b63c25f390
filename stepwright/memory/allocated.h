#pragma once

#include <vector>

#include "stepwright/plan/job.h"
#include "stepwright/step/program.h"

namespace stepwright::memory {

/// The memory of a pipeline position as PyTorch's allocator counts it: model states, tensors of the
/// step and memory that the framework holds in addition (`held_bytes`), without the device's
/// context, NCCL's buffers and memory that the allocator cannot use. Whole bytes.
struct AllocatedMemory {
  double after_step_bytes = 0;  ///< Bytes between two steps: `torch.cuda.memory_allocated`.
  /// Bytes at the peak of a step: `torch.cuda.max_memory_allocated`.
  double peak_bytes = 0;
};

/// Returns the allocated memory of every pipeline position, as it is from the second step on.
std::vector<AllocatedMemory> allocated_memory(const plan::Job& job,
                                              const step::StepProgram& program);

}  // namespace stepwright::memory
