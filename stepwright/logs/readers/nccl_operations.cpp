#include "stepwright/logs/readers/nccl_operations.h"

#include <algorithm>
#include <iterator>

#include "stepwright/logs/files/element_type.h"

namespace stepwright::logs {
namespace {

struct NcclName {
  std::string_view name;
  LogOperation operation;
};
// nccl.h.in and the `info.opName` of src/collectives.cc, 2.4 to 2.30.
constexpr NcclName kNcclNames[] = {{"AllReduce", LogOperation::kAllReduce},
                                   {"AllGather", LogOperation::kAllGather},
                                   {"ReduceScatter", LogOperation::kReduceScatter},
                                   {"Broadcast", LogOperation::kBroadcast},
                                   {"Bcast", LogOperation::kBroadcast},
                                   {"Reduce", LogOperation::kReduce},
                                   {"AlltoAll", LogOperation::kAllToAll},
                                   {"AllToAll", LogOperation::kAllToAll},
                                   {"Gather", LogOperation::kGather},
                                   {"Scatter", LogOperation::kScatter},
                                   {"Send", LogOperation::kSend},
                                   {"Recv", LogOperation::kReceive}};

/// True if NCCL counts one rank's shard of the full buffer for an operation.
bool counts_part(LogOperation operation) {
  switch (operation) {
    case LogOperation::kAllGather:
    case LogOperation::kReduceScatter:
    case LogOperation::kAllToAll:
    case LogOperation::kGather:
    case LogOperation::kScatter: return true;
    default: return false;
  }
}

}  // namespace

std::optional<LogOperation> nccl_operation(std::string_view name) {
  const auto* known = std::ranges::find(kNcclNames, name, &NcclName::name);
  if (known == std::end(kNcclNames)) return std::nullopt;
  return known->operation;
}

std::int64_t nccl_call_payload_bytes(LogOperation operation, std::int64_t bytes,
                                     std::int64_t group_size) {
  if (bytes < 1 || !counts_part(operation)) return bytes;
  return group_size < 1 ? kUnknown : buffer_bytes(group_size, bytes);
}

}  // namespace stepwright::logs
