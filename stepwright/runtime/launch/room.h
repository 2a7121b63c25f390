#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "stepwright/plan/job.h"
#include "stepwright/runtime/train_options.h"

namespace stepwright::runtime {

/// Returns the bytes that processes of this machine can still allocate: free and reclaimable memory
/// and swap, but no more than the control groups of this process allow. nullopt where the system
/// does not say. `root`: the folder that has /proc and /sys.
std::optional<double> free_memory_bytes(const std::filesystem::path& root = "/");

/// Returns how many processes the kernel of this machine has killed for lack of memory since it
/// started.
std::int64_t memory_kills();

/// Returns the bytes that all ranks of a plan hold together at their peaks, counting tensors only:
/// the least memory of a machine that trains the plan by itself.
double tensor_bytes(const plan::PlannedJob& planned);

/// Fails with `kRuntime` if this machine's processors are to train a plan whose tensors do not fit
/// in its memory.
void check_room(const plan::PlannedJob& planned, const TrainOptions& options);

}  // namespace stepwright::runtime
