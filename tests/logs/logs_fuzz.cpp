#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "stepwright/core/error.h"
#include "stepwright/logs/characterize.h"
#include "stepwright/logs/readers/read_logs.h"

/// Any bytes are refused or are a log, and a log can be summed.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    std::vector<stepwright::logs::FileByteReader> files;
    files.emplace_back(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz.0");
    const stepwright::logs::CommunicationLog log = stepwright::logs::read_logs(files);
    stepwright::logs::summarise_logged_calls(log, 4096.0);
  } catch (const stepwright::Error&) {
    return 0;
  }
  return 0;
}
