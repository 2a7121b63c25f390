#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace stepwright::logs {

/// The process that NCCL names at the start of each line: "host:615:18953 [2]" in "host:615:18953
/// [2] NCCL INFO ...".
struct NcclProcessPrefix {
  std::size_t begin = 0;  ///< Index of the host name's first character in the text.
  std::string_view host;
  std::int64_t pid = 0;
  std::int64_t device = 0;
};

/// Reads the process name at the end of a text that precedes " NCCL "; nullopt if the text does not
/// end with one.
std::optional<NcclProcessPrefix> nccl_process_prefix_at_end(std::string_view text);

}  // namespace stepwright::logs
