#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "stepwright/core/error.h"
#include "stepwright/diagnose/diagnose.h"

/// Any two files are diagnosed or refused; the input is divided at its first NUL.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = bytes.find('\0');
  try {
    std::vector<stepwright::logs::FileByteReader> files;
    files.emplace_back(bytes.substr(0, cut), "flight_rank0");
    if (cut != std::string_view::npos) files.emplace_back(bytes.substr(cut + 1), "flight_rank1");
    stepwright::diagnose::diagnose_files(files);
  } catch (const stepwright::Error&) {
    return 0;
  }
  return 0;
}
