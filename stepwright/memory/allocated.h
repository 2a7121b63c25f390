#pragma once

#include <vector>

#include "stepwright/plan/job.h"
#include "stepwright/step/program.h"

namespace stepwright::memory {

/// The memory of a pipeline position as PyTorch's allocator counts it: model states, tensors of the
/// step and what the framework holds beside them (`held_bytes`), without the context of the device,
/// NCCL's buffers and what the allocator cannot use. Whole bytes.
struct AllocatedMemory {
  double after_step_bytes = 0;  ///< Between two steps: `torch.cuda.memory_allocated`.
  /// At the largest moment: `torch.cuda.max_memory_allocated`.
  double peak_bytes = 0;
};

/// Returns the memory of every pipeline position, from the second step on.
std::vector<AllocatedMemory> allocated_memory(const plan::Job& job,
                                              const step::StepProgram& program);

}  // namespace stepwright::memory
