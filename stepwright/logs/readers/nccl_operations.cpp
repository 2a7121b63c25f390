#include "stepwright/logs/readers/nccl_operations.h"

#include <algorithm>
#include <iterator>

#include "stepwright/logs/files/element_type.h"

namespace stepwright::logs {
namespace {

struct NcclName {
  std::string_view name;
  LoggedOperation operation;
};
// nccl.h.in and the `info.opName` of src/collectives.cc, 2.4 to 2.30.
constexpr NcclName kNcclNames[] = {{"AllReduce", LoggedOperation::kAllReduce},
                                   {"AllGather", LoggedOperation::kAllGather},
                                   {"ReduceScatter", LoggedOperation::kReduceScatter},
                                   {"Broadcast", LoggedOperation::kBroadcast},
                                   {"Bcast", LoggedOperation::kBroadcast},
                                   {"Reduce", LoggedOperation::kReduce},
                                   {"AlltoAll", LoggedOperation::kAllToAll},
                                   {"AllToAll", LoggedOperation::kAllToAll},
                                   {"Gather", LoggedOperation::kGather},
                                   {"Scatter", LoggedOperation::kScatter},
                                   {"Send", LoggedOperation::kSend},
                                   {"Recv", LoggedOperation::kReceive}};

/// True if NCCL counts one rank's shard of the full buffer for an operation.
bool counts_part(LoggedOperation operation) {
  switch (operation) {
    case LoggedOperation::kAllGather:
    case LoggedOperation::kReduceScatter:
    case LoggedOperation::kAllToAll:
    case LoggedOperation::kGather:
    case LoggedOperation::kScatter: return true;
    default: return false;
  }
}

}  // namespace

std::optional<LoggedOperation> nccl_operation(std::string_view name) {
  const auto* known = std::ranges::find(kNcclNames, name, &NcclName::name);
  if (known == std::end(kNcclNames)) return std::nullopt;
  return known->operation;
}

std::int64_t nccl_call_payload_bytes(LoggedOperation operation, std::int64_t bytes,
                                     std::int64_t group_size) {
  if (bytes < 1 || !counts_part(operation)) return bytes;
  return group_size < 1 ? kUnknown : buffer_bytes(group_size, bytes);
}

}  // namespace stepwright::logs
