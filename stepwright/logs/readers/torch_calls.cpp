#include "stepwright/logs/readers/torch_calls.h"

#include <algorithm>
#include <iterator>

#include "stepwright/logs/files/element_type.h"

namespace stepwright::logs {
namespace {

struct TorchName {
  std::string_view name;
  LogOperation operation;
};

// Names without prefix and final underscore, in PyTorch 2.0 to 2.13 (ProcessGroupNCCL.cpp,
// ProcessGroupGloo.cpp, Ops.cpp).
constexpr TorchName kTorchNames[] = {
    {"allreduce", LogOperation::kAllReduce},
    {"all_reduce", LogOperation::kAllReduce},
    {"allreduce_coalesced", LogOperation::kAllReduce},
    {"all_reduce_coalesced", LogOperation::kAllReduce},
    {"all_reduce_barrier", LogOperation::kBarrier},
    {"all_reduce_sparse", LogOperation::kAllReduce},
    {"allreduce_sparse", LogOperation::kAllReduce},
    {"sparse_all_reduce", LogOperation::kAllReduce},
    {"allgather", LogOperation::kAllGather},
    {"all_gather", LogOperation::kAllGather},
    {"_allgather_base", LogOperation::kAllGather},
    {"_all_gather_base", LogOperation::kAllGather},
    {"all_gather_into_tensor", LogOperation::kAllGather},
    {"all_gather_into_tensor_coalesced", LogOperation::kAllGather},
    {"allgather_coalesced", LogOperation::kAllGather},
    {"allgather_into_tensor_coalesced", LogOperation::kAllGather},
    {"_broadcast_oop", LogOperation::kBroadcast},
    {"broadcast", LogOperation::kBroadcast},
    {"_reduce_oop", LogOperation::kReduce},
    {"reduce", LogOperation::kReduce},
    {"reduce_scatter", LogOperation::kReduceScatter},
    {"_reduce_scatter_base", LogOperation::kReduceScatter},
    {"reduce_scatter_base", LogOperation::kReduceScatter},
    {"reduce_scatter_tensor", LogOperation::kReduceScatter},
    {"reduce_scatter_tensor_coalesced", LogOperation::kReduceScatter},
    {"reduce_scatter_coalesced", LogOperation::kReduceScatter},
    {"all_to_all", LogOperation::kAllToAll},
    {"all_to_allv", LogOperation::kAllToAll},
    {"all_to_all_single", LogOperation::kAllToAll},
    {"alltoall", LogOperation::kAllToAll},
    {"alltoall_base", LogOperation::kAllToAll},
    {"gather", LogOperation::kGather},
    {"scatter", LogOperation::kScatter},
    {"send", LogOperation::kSend},
    {"recv", LogOperation::kReceive},
    {"recvAnysource", LogOperation::kReceive},
    {"recv_any_source", LogOperation::kReceive},
    {"barrier", LogOperation::kBarrier},
    {"monitored_barrier", LogOperation::kBarrier}};

// Names of waits, of brackets around calls that are logged themselves, and of calls that move no
// data.
constexpr std::string_view kTorchBrackets[] = {
    "wait",  "coalesced",   "coalesced_outp",  "coalesced_inp",
    "init",  "wait_tensor", "startCoalescing", "endCoalescing",
    "split", "destroy",     "abort",           "watchdog"};

/// Removes what surrounds the operation's word in "nccl:send 1->2" or "c10d::send".
std::string_view bare(std::string_view name) {
  if (const std::size_t colon = name.rfind(':', name.find(' ')); colon != std::string_view::npos) {
    name.remove_prefix(colon + 1);
  }
  name = name.substr(0, name.find(' '));
  if (name.ends_with('_')) name.remove_suffix(1);
  return name;
}

}  // namespace

std::optional<LogOperation> operation_of_torch_call(std::string_view name) {
  const auto* found = std::ranges::find(kTorchNames, bare(name), &TorchName::name);
  if (found == std::end(kTorchNames)) return std::nullopt;
  return found->operation;
}

bool is_not_torch_call(std::string_view name) {
  return std::ranges::find(kTorchBrackets, bare(name)) != std::end(kTorchBrackets);
}

std::int64_t local_call_payload_bytes(LogOperation operation, std::int64_t in_elements,
                                      std::int64_t out_elements, std::int64_t element_bytes) {
  if (operation == LogOperation::kBarrier) return 0;
  const bool input = operation == LogOperation::kAllToAll && in_elements > 0;
  return buffer_bytes(input ? in_elements : std::max(in_elements, out_elements), element_bytes);
}

}  // namespace stepwright::logs
