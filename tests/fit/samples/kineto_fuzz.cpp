#include <cstddef>
#include <cstdint>
#include <string_view>

#include "stepwright/core/error.h"
#include "stepwright/fit/samples/kineto_collectives.h"
#include "stepwright/fit/samples/kineto_samples.h"

/// A trace is read or refused, and so are its samples.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    stepwright::ByteSource bytes(text, "fuzz.json");
    const auto trace = stepwright::read_kineto_trace(bytes);
    stepwright::trace_operators(trace);
    stepwright::trace_collectives(trace, 8);
  } catch (const stepwright::Error&) {
    return 0;
  }
  return 0;
}
