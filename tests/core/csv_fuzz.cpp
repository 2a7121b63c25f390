#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "stepwright/core/csv.h"
#include "stepwright/core/error.h"

/// Any bytes are refused or are a table; every record of a table is as wide as its header.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto table =
        stepwright::parse_csv({reinterpret_cast<const char*>(data), size}, "fuzz.csv");
    for (const auto& row : table.rows) {
      if (row.cells.size() != table.header.size()) std::abort();
    }
  } catch (const stepwright::Error& error) {
    if (error.kind() != stepwright::ErrorKind::kInput) std::abort();
  }
  return 0;
}
