#pragma once

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "stepwright/memory/memory.h"

namespace stepwright::runtime {

/// The memory of a rank at the largest moment of its last step, beside what was predicted of its
/// stage.
struct CountedMemory {
  using Kinds =
      std::array<double, memory::kMemoryKinds>;  ///< Bytes by `MemoryKind`; the reserve stays 0.
  Kinds predicted{};
  Kinds counted{};          ///< Bytes by kind, each tensor of the program in full.
  double shared_bytes = 0;  ///< Bytes that are saved because results share their operands' buffers.
  double kernel_bytes = 0;  ///< More that was allocated inside operators.

  /// Bytes of `counted`, with what is shared and what kernels took.
  [[nodiscard]] double allocated_bytes() const;
};
/// The sum over all kinds.
double total_bytes(const CountedMemory::Kinds& kinds);

/// One rank in the file of a run.
nlohmann::ordered_json counted_memory_json(const CountedMemory& memory);

/// The file of a run (docs/formats.md, "Counted memory"): `ranks` holds each rank's JSON as text.
nlohmann::ordered_json counted_memory_file(const std::vector<std::string>& ranks);

}  // namespace stepwright::runtime
