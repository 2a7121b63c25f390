#pragma once

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "stepwright/memory/memory.h"

namespace stepwright::runtime {

/// The memory of a rank at the peak of its last step, next to the prediction for its stage.
struct CountedMemory {
  /// Bytes by `MemoryKind`; the entry of the reserve is 0.
  using Kinds = std::array<double, memory::kMemoryKinds>;
  Kinds predicted{};
  Kinds counted{};          ///< Bytes by kind, each tensor of the program in full.
  double shared_bytes = 0;  ///< Bytes saved because results share the buffers of their operands.
  double kernel_bytes = 0;  ///< Additional bytes allocated inside operators.

  /// Returns the bytes of `count_with_noun`, less shared ones, plus those of kernels.
  [[nodiscard]] double allocated_bytes() const;
};
/// Returns the sum over all kinds of memory.
double total_bytes(const CountedMemory::Kinds& kinds);

/// Returns the entry of one rank in the file of a run.
nlohmann::ordered_json counted_memory_json(const CountedMemory& memory);

/// Returns the file of a run (docs/formats.md, "Counted memory"); `ranks`: JSON text of each rank.
nlohmann::ordered_json counted_memory_file(const std::vector<std::string>& ranks);

}  // namespace stepwright::runtime
