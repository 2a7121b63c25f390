#include <cstddef>
#include <cstdint>
#include <string_view>

#include "stepwright/core/error.h"
#include "stepwright/snapshot/read_snapshot.h"

/// Any bytes are refused or are a snapshot.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    stepwright::logs::FileByteReader source(
        std::string_view(reinterpret_cast<const char*>(data), size), "fuzz.pickle");
    static_cast<void>(stepwright::snapshot::read_allocator_snapshot(source));
  } catch (const stepwright::Error&) {
    return 0;
  }
  return 0;
}
