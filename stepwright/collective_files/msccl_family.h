#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "stepwright/collective/schedule.h"

namespace stepwright::collective_files {

/// The part that the files of MSCCL and MSCCL++ share: words, and loaders with fixed room.

/// The word for an operation. Fails with `kUnsupported` where there is none.
std::string_view collective_word(collective::Collective collective);

/// The letter for a buffer: i, o or s.
const char* buffer_letter(collective::RankBuffer buffer);

/// A loader that has room for `most` of `what`.
struct LoaderRoom {
  std::string_view loader;
  std::string_view what;
  std::size_t most = 0;
};

/// Fails with `kUnsupported` when a rank needs more.
void check_room(const LoaderRoom& room, std::size_t count, std::int32_t rank);

}  // namespace stepwright::collective_files
