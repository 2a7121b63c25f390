#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace stepwright::logs {

/// The process that NCCL names in front of its messages: "host:615:18953 [2]" of
/// "host:615:18953 [2] NCCL INFO ...".
struct NcclPrefix {
  std::size_t begin = 0;  ///< Index of the host in the text.
  std::string_view host;
  std::int64_t pid = 0;
  std::int64_t device = 0;
};

/// Reads the prefix with which a text ends, in front of " NCCL "; nullopt: it ends with none.
std::optional<NcclPrefix> prefix_at_end(std::string_view text);

}  // namespace stepwright::logs
