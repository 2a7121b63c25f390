#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "stepwright/collective/schedule.h"

namespace stepwright::collective_files {

// Parts that MSCCL and MSCCL++ files share: words, and limits of their loaders.

/// Returns the name of a collective in MSCCL and MSCCL++ files. Fails with `kUnsupported` if the
/// formats have none.
std::string_view msccl_collective_name(collective::CollectiveOperation collective);

/// Returns the letter of a buffer in MSCCL and MSCCL++ files: i (input), o (output) or s (scratch).
const char* msccl_buffer_letter(collective::RankBufferKind buffer);

/// A limit of a program that loads schedules, for error messages: `loader` has room for at most
/// `most` of `what`.
struct ScheduleLoaderLimit {
  std::string_view loader;
  std::string_view what;
  std::size_t most = 0;
};

/// Fails with `kUnsupported` if a rank has more of something (`count`) than the loading program has
/// room for.
void check_schedule_loader_limit(const ScheduleLoaderLimit& room, std::size_t count,
                                 std::int32_t rank);

}  // namespace stepwright::collective_files
