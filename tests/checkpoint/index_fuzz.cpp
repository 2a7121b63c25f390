#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "stepwright/checkpoint/index.h"
#include "stepwright/core/error.h"

/// Any content with a correct checksum, and any text, is refused or is an index that is written and
/// read back unchanged.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto content = nlohmann::ordered_json::parse(text, nullptr, false);
  std::string file = text;
  if (!content.is_discarded()) {
    const std::string dumped =
        content.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    file = R"({"stepwright":"checkpoint/1","xxh3":")" + stepwright::checkpoint::checksum(dumped) +
           R"(","content":)" + dumped + "}";
  }
  try {
    const auto index = stepwright::checkpoint::parse_checkpoint_index(file, "fuzz");
    if (stepwright::checkpoint::parse_checkpoint_index(
            stepwright::checkpoint::checkpoint_index_text(index), "again") != index)
      std::abort();
  } catch (const stepwright::Error& error) {
    if (error.kind() != stepwright::ErrorKind::kInput) std::abort();
  }
  return 0;
}
