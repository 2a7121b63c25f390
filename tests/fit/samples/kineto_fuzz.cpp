#include <cstddef>
#include <cstdint>
#include <string_view>

#include "stepwright/core/error.h"
#include "stepwright/fit/samples/kineto_collectives.h"
#include "stepwright/fit/samples/kineto_samples.h"
#include "stepwright/logs/readers/kineto.h"

/// A trace is read or refused, for calls and operators in one pass, and so are its samples.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    stepwright::logs::FileByteReader bytes(text, "fuzz.json");
    stepwright::logs::CommunicationLog log;
    const auto trace = stepwright::logs::read_kineto_host_trace(bytes, log);
    stepwright::fit::read_trace_operators(trace);
    stepwright::fit::read_trace_collectives(trace, 8);
  } catch (const stepwright::Error&) {
    return 0;
  }
  return 0;
}
