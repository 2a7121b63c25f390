#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/core/tree.h"
#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// Memory that a framework holds beside states and tensors of a plan, learned from snapshots of its
/// runs on the fullest device: an entry of `memory` in a file of conditions.
struct MemoryConditions {
  std::string framework;     ///< One of `kFrameworkNames`; empty: all others.
  double other_bytes = 0;    ///< Bytes in PyTorch's allocator beside states and tensors.
  double fragmentation = 0;  ///< Reserved but not in use, as a share of tensors that come and go.
};

/// Largest values of an entry.
inline constexpr double kMostOtherBytes = 1e13;
inline constexpr double kMostFragmentation = 10;

/// Reads the entries of a file of conditions; none where it has no `memory`. Fails with `kInput`.
std::vector<MemoryConditions> read_memory_conditions(Node conditions);
std::vector<MemoryConditions> load_memory_conditions(const std::filesystem::path& path);
Tree memory_conditions_tree(const std::vector<MemoryConditions>& entries);

/// The entry of a framework: its own, or else the one without a name; null if absent.
const MemoryConditions* memory_conditions_of(const std::vector<MemoryConditions>& entries,
                                             const Framework& framework);

}  // namespace stepwright::plan
