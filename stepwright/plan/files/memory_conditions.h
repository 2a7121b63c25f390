#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/core/tree.h"
#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// Memory that a framework uses in addition to the states and tensors of a plan, fitted to memory
/// snapshots of its runs on the fullest device: an entry of `memory` in a file of conditions.
struct MemoryConditions {
  /// One of `kFrameworkNames`; empty: all frameworks without an entry of their own.
  std::string framework;
  double other_bytes = 0;  ///< Bytes in PyTorch's allocator besides states and tensors.
  /// Memory reserved but not in use, as a share of tensors that are allocated and freed in a step.
  double fragmentation = 0;
};

/// Upper limits of an entry's values.
inline constexpr double kMostOtherBytes = 1e13;
inline constexpr double kMostFragmentation = 10;

/// Reads the memory entries of a file of conditions; empty if it has no `memory`. Fails with
/// `kInput`.
std::vector<MemoryConditions> read_memory_conditions(Node conditions);
std::vector<MemoryConditions> load_memory_conditions(const std::filesystem::path& path);
Tree memory_conditions_tree(const std::vector<MemoryConditions>& entries);

/// Returns the entry of a framework, else the entry without a name; null if neither exists.
const MemoryConditions* memory_conditions_of(const std::vector<MemoryConditions>& entries,
                                             const Framework& framework);

}  // namespace stepwright::plan
