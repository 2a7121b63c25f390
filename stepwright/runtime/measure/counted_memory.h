#pragma once

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "stepwright/memory/memory.h"

namespace stepwright::runtime {

/// Memory of a rank at the peak of its last step: counted bytes, and bytes predicted for its stage.
struct CountedPeakMemory {
  /// Bytes for each `memory::MemoryKind`; 0 for the reserve.
  using Kinds = std::array<double, memory::kMemoryKinds>;
  Kinds predicted{};
  /// Counted bytes of each kind. Each tensor of the step program counts in full, even if it shares
  /// a buffer.
  Kinds counted{};
  /// Bytes to subtract from `counted`, because some operators return a view of an input's buffer.
  double shared_bytes = 0;
  /// Bytes allocated inside operators (temporary buffers), in addition to `counted`.
  double kernel_bytes = 0;

  /// Returns the bytes really allocated: the sum of `counted`, minus `shared_bytes`, plus
  /// `kernel_bytes`.
  [[nodiscard]] double allocated_bytes() const;
};
/// Returns the sum of bytes over all kinds of memory (parameters, gradients, activations, ...).
double bytes_over_memory_kinds(const CountedPeakMemory::Kinds& kinds);

/// Returns the JSON object with one rank's counted and predicted memory.
nlohmann::ordered_json counted_memory_json(const CountedPeakMemory& memory);

/// Returns the JSON file of counted and predicted memory of a run (docs/formats.md, "Counted
/// memory"). `ranks`: JSON text of each rank.
nlohmann::ordered_json counted_memory_file_json(const std::vector<std::string>& ranks);

}  // namespace stepwright::runtime
