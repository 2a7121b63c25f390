#include "stepwright/logs/readers/torch_calls.h"

#include <algorithm>
#include <iterator>

#include "stepwright/logs/files/element_type.h"

namespace stepwright::logs {
namespace {

struct TorchName {
  std::string_view name;
  LoggedOperation operation;
};

// Names without prefix and final underscore, in PyTorch 2.0 to 2.13 (ProcessGroupNCCL.cpp,
// ProcessGroupGloo.cpp, Ops.cpp).
constexpr TorchName kTorchNames[] = {
    {"allreduce", LoggedOperation::kAllReduce},
    {"all_reduce", LoggedOperation::kAllReduce},
    {"allreduce_coalesced", LoggedOperation::kAllReduce},
    {"all_reduce_coalesced", LoggedOperation::kAllReduce},
    {"all_reduce_barrier", LoggedOperation::kBarrier},
    {"all_reduce_sparse", LoggedOperation::kAllReduce},
    {"allreduce_sparse", LoggedOperation::kAllReduce},
    {"sparse_all_reduce", LoggedOperation::kAllReduce},
    {"allgather", LoggedOperation::kAllGather},
    {"all_gather", LoggedOperation::kAllGather},
    {"_allgather_base", LoggedOperation::kAllGather},
    {"_all_gather_base", LoggedOperation::kAllGather},
    {"all_gather_into_tensor", LoggedOperation::kAllGather},
    {"all_gather_into_tensor_coalesced", LoggedOperation::kAllGather},
    {"allgather_coalesced", LoggedOperation::kAllGather},
    {"allgather_into_tensor_coalesced", LoggedOperation::kAllGather},
    {"_broadcast_oop", LoggedOperation::kBroadcast},
    {"broadcast", LoggedOperation::kBroadcast},
    {"_reduce_oop", LoggedOperation::kReduce},
    {"reduce", LoggedOperation::kReduce},
    {"reduce_scatter", LoggedOperation::kReduceScatter},
    {"_reduce_scatter_base", LoggedOperation::kReduceScatter},
    {"reduce_scatter_base", LoggedOperation::kReduceScatter},
    {"reduce_scatter_tensor", LoggedOperation::kReduceScatter},
    {"reduce_scatter_tensor_coalesced", LoggedOperation::kReduceScatter},
    {"reduce_scatter_coalesced", LoggedOperation::kReduceScatter},
    {"all_to_all", LoggedOperation::kAllToAll},
    {"all_to_allv", LoggedOperation::kAllToAll},
    {"all_to_all_single", LoggedOperation::kAllToAll},
    {"alltoall", LoggedOperation::kAllToAll},
    {"alltoall_base", LoggedOperation::kAllToAll},
    {"gather", LoggedOperation::kGather},
    {"scatter", LoggedOperation::kScatter},
    {"send", LoggedOperation::kSend},
    {"recv", LoggedOperation::kReceive},
    {"recvAnysource", LoggedOperation::kReceive},
    {"recv_any_source", LoggedOperation::kReceive},
    {"barrier", LoggedOperation::kBarrier},
    {"monitored_barrier", LoggedOperation::kBarrier}};

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

std::optional<LoggedOperation> operation_of_torch_call(std::string_view name) {
  const auto* found = std::ranges::find(kTorchNames, bare(name), &TorchName::name);
  if (found == std::end(kTorchNames)) return std::nullopt;
  return found->operation;
}

bool is_not_torch_call(std::string_view name) {
  return std::ranges::find(kTorchBrackets, bare(name)) != std::end(kTorchBrackets);
}

std::int64_t local_call_payload_bytes(LoggedOperation operation, std::int64_t in_elements,
                                      std::int64_t out_elements, std::int64_t element_bytes) {
  if (operation == LoggedOperation::kBarrier) return 0;
  const bool input = operation == LoggedOperation::kAllToAll && in_elements > 0;
  return buffer_bytes(input ? in_elements : std::max(in_elements, out_elements), element_bytes);
}

}  // namespace stepwright::logs
