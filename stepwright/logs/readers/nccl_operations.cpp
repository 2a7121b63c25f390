#include "stepwright/logs/readers/nccl_operations.h"

#include <algorithm>
#include <iterator>

#include "stepwright/logs/files/element_type.h"

namespace stepwright {
namespace {

struct NcclName {
  std::string_view name;
  NcclOperation operation;
};
// nccl.h.in and the `info.opName` of src/collectives.cc, 2.4 to 2.30.
constexpr NcclName kNcclNames[] = {{"AllReduce", {LogOperation::kAllReduce, false}},
                                   {"AllGather", {LogOperation::kAllGather, true}},
                                   {"ReduceScatter", {LogOperation::kReduceScatter, true}},
                                   {"Broadcast", {LogOperation::kBroadcast, false}},
                                   {"Bcast", {LogOperation::kBroadcast, false}},
                                   {"Reduce", {LogOperation::kReduce, false}},
                                   {"AlltoAll", {LogOperation::kAllToAll, true}},
                                   {"AllToAll", {LogOperation::kAllToAll, true}},
                                   {"Gather", {LogOperation::kGather, true}},
                                   {"Scatter", {LogOperation::kScatter, true}},
                                   {"Send", {LogOperation::kSend, false}},
                                   {"Recv", {LogOperation::kReceive, false}}};

}  // namespace

std::optional<NcclOperation> nccl_operation(std::string_view name) {
  const auto* known = std::ranges::find(kNcclNames, name, &NcclName::name);
  if (known == std::end(kNcclNames)) return std::nullopt;
  return known->operation;
}

std::int64_t nccl_payload(const NcclOperation& operation, std::int64_t bytes,
                          std::int64_t group_size) {
  if (bytes < 1 || !operation.counts_part) return bytes;
  return group_size < 1 ? kUnknown : buffer_bytes(group_size, bytes);
}

}  // namespace stepwright
