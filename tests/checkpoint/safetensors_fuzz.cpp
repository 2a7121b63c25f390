#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "stepwright/checkpoint/safetensors.h"
#include "stepwright/core/error.h"

/// Any bytes are refused, or are tensors that follow each other in the file.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    std::int64_t end = 0;
    for (const auto& tensor : stepwright::checkpoint::read_safetensors_header(
             std::as_bytes(std::span(data, size)), "fuzz")) {
      if (tensor.begin != end || tensor.end < tensor.begin) std::abort();
      end = tensor.end;
    }
    if (end > static_cast<std::int64_t>(size)) std::abort();
  } catch (const stepwright::Error& error) {
    if (error.kind() != stepwright::ErrorKind::kInput) std::abort();
  }
  return 0;
}
