#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "stepwright/plan/job.h"
#include "stepwright/runtime/train_options.h"

namespace stepwright::runtime {

/// Returns the bytes that processes of this machine can still allocate: free and reclaimable memory
/// plus swap, limited by this process's control groups. nullopt: the system does not say. `root`:
/// folder that contains /proc and /sys.
std::optional<double> free_memory_bytes(const std::filesystem::path& root = "/");

/// Returns how many processes this machine's kernel has killed for lack of memory since it started.
std::int64_t out_of_memory_kill_count();

/// Returns the sum over all ranks of a plan of the bytes of tensors at the memory peak. A single
/// machine needs at least that much memory to train the plan.
double peak_tensor_bytes_over_all_ranks(const plan::PlannedJob& planned);

/// Fails with `kRuntime` if a plan is to be trained on this machine's CPUs and the tensors of all
/// ranks do not fit in its free memory.
void check_tensors_fit_in_memory(const plan::PlannedJob& planned, const TrainOptions& options);

}  // namespace stepwright::runtime
