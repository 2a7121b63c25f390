#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "stepwright/plan/job.h"
#include "stepwright/runtime/train_options.h"

namespace stepwright::runtime {

/// The bytes that processes of this machine can still have: free and reclaimable memory, swap, and
/// no more than the control groups of this process leave it. Nothing where the system does not
/// say. `root`: the folder in which /proc and /sys lie.
std::optional<double> free_memory_bytes(const std::filesystem::path& root = "/");

/// Processes that the kernel of this machine has ended for lack of memory since it started.
std::int64_t memory_kills();

/// The bytes that all ranks of a plan hold together at their peaks, tensors alone: what the memory
/// of a machine must have at least when it trains the plan by itself.
double tensor_bytes(const plan::PlannedJob& planned);

/// Fails with `kRuntime` where the processors of this machine are to train a plan whose tensors
/// have no room in its memory.
void check_room(const plan::PlannedJob& planned, const TrainOptions& options);

}  // namespace stepwright::runtime
