#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "stepwright/collective/schedule.h"

namespace stepwright::collective_files {

/// Parts that MSCCL and MSCCL++ files share: words, and limits of their loaders.

/// Returns the word for an operation. Fails with `kUnsupported` if there is none.
std::string_view collective_word(collective::Collective collective);

/// Returns the letter for a buffer: i, o or s.
const char* buffer_letter(collective::RankBuffer buffer);

/// A limit of a loader: it has room for `most` of `what`.
struct LoaderLimit {
  std::string_view loader;
  std::string_view what;
  std::size_t most = 0;
};

/// Fails with `kUnsupported` if `count` of a rank exceeds the loader's limit.
void check_loader_limit(const LoaderLimit& room, std::size_t count, std::int32_t rank);

}  // namespace stepwright::collective_files
