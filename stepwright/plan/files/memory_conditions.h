#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/core/tree.h"
#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// Memory that a framework uses beyond a plan's model states and tensors, fitted to memory
/// snapshots of its runs (fullest device). One entry of `memory` in a training conditions file,
/// which has constants fitted to whole runs.
struct FrameworkExtraMemory {
  /// Name of the framework whose memory the entry describes, one of `kFrameworkNames`; empty: every
  /// framework without an entry of its own.
  std::string framework;
  /// Bytes in PyTorch's allocator beyond model states and tensors of the step.
  double other_bytes = 0;
  /// Memory that the allocator reserves without using it, as a share of the tensors that a step
  /// allocates and frees.
  double fragmentation = 0;
};

/// Largest `other_bytes` (bytes in PyTorch's allocator beyond states and tensors) that a training
/// conditions file may state for a framework.
inline constexpr double kMaxOtherMemoryBytes = 1e13;
/// Largest `fragmentation` (unused reserved memory, as a share of a step's tensors) that a training
/// conditions file may state for a framework.
inline constexpr double kMaxMemoryFragmentation = 10;

/// Reads the `memory` entries (a framework's memory beyond states and tensors) of a training
/// conditions file; empty if it has none. Fails with `kInput` on bad values.
std::vector<FrameworkExtraMemory> read_framework_extra_memory(DocumentNode conditions);
std::vector<FrameworkExtraMemory> load_memory_conditions(const std::filesystem::path& path);
DocumentTree memory_conditions_tree(const std::vector<FrameworkExtraMemory>& entries);

/// Returns the entry about the memory that a framework uses beyond states and tensors, else the
/// entry for all other frameworks; null if there is neither.
const FrameworkExtraMemory* find_framework_extra_memory(
    const std::vector<FrameworkExtraMemory>& entries, const TrainingFramework& framework);

}  // namespace stepwright::plan
