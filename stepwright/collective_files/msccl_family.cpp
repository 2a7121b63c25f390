#include "stepwright/collective_files/msccl_family.h"

#include <fmt/format.h>

#include <array>

#include "stepwright/core/error.h"

namespace stepwright::collective_files {
namespace {

constexpr std::array<const char*, 3> kBufferLetters = {"i", "o", "s"};

}  // namespace

std::string_view msccl_collective_name(collective::CollectiveOperation collective) {
  switch (collective) {
    case collective::CollectiveOperation::kAllReduce: return "allreduce";
    case collective::CollectiveOperation::kAllGather: return "allgather";
    case collective::CollectiveOperation::kReduceScatter: return "reducescatter";
    case collective::CollectiveOperation::kAllToAll: return "alltoall";
    case collective::CollectiveOperation::kBroadcast: return "broadcast";
    case collective::CollectiveOperation::kReduce: return "reduce";
    case collective::CollectiveOperation::kPointToPoint: break;
  }
  fail_unsupported("neither MSCCL nor MSCCL++ has a word for this operation");
}

const char* msccl_buffer_letter(collective::RankBufferKind buffer) {
  return kBufferLetters[static_cast<std::size_t>(buffer)];
}

void check_schedule_loader_limit(const ScheduleLoaderLimit& room, std::size_t count,
                                 std::int32_t rank) {
  if (count <= room.most) return;
  fail_unsupported(
      fmt::format("rank {} needs {} {}, but {} allows at most {}: use fewer chunks or ranks", rank,
                  count, room.what, room.loader, room.most));
}

}  // namespace stepwright::collective_files
