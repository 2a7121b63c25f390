#include "stepwright/logs/readers/kineto_kernels.h"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "stepwright/logs/readers/torch_calls.h"

namespace stepwright::logs {

std::vector<TimeSpan> call_time_spans_from_kernels(
    const std::vector<TraceCommunicationCall>& described,
    std::vector<TraceCommunicationCall>& kernels) {
  std::map<std::int64_t, std::size_t> by_id;
  for (std::size_t i = 0; i < described.size(); ++i) {
    if (described[i].external >= 0) by_id.try_emplace(described[i].external, i);
  }
  std::vector<TimeSpan> timed(described.size(), TimeSpan{kNoTime, kNoTime});
  std::vector<TraceCommunicationCall> rest;
  for (TraceCommunicationCall& kernel : kernels) {
    const auto found = by_id.find(kernel.external);
    if (found == by_id.end()) {
      rest.push_back(std::move(kernel));
    } else {
      timed[found->second] = kernel.span;
    }
  }
  std::map<decltype(std::declval<const TraceCommunicationCall&>().key()), std::deque<std::size_t>>
      by_key;
  for (std::size_t i = 0; i < described.size(); ++i) {
    if (timed[i].begin_s != timed[i].begin_s) by_key[described[i].key()].push_back(i);
  }
  kernels.clear();
  for (TraceCommunicationCall& kernel : rest) {
    const auto found = by_key.find(kernel.key());
    if (found == by_key.end() || found->second.empty()) {
      kernels.push_back(std::move(kernel));
      continue;
    }
    timed[found->second.front()] = kernel.span;
    found->second.pop_front();
  }
  return timed;
}

void remove_kernels_of_grouped_calls(const std::vector<TraceCommunicationCall>& described,
                                     const std::vector<TimeSpan>& timed,
                                     std::vector<TraceCommunicationCall>& kernels) {
  std::map<std::string_view, std::size_t> untimed;  // by the word in kernel names
  for (std::size_t i = 0; i < described.size(); ++i) {
    const auto call = operation_of_torch_call(described[i].name);
    if (call && timed[i].begin_s != timed[i].begin_s) ++untimed[nccl_kernel_word(*call)];
  }
  std::erase_if(kernels, [&](const TraceCommunicationCall& kernel) {
    if (!kernel.name.empty()) return false;
    for (auto& [word, calls] : untimed) {
      if (calls == 0 || kernel.kernel.find(word) == std::string::npos) continue;
      --calls;
      return true;
    }
    return false;
  });
}

bool no_kernel_describes_call(const std::vector<TraceCommunicationCall>& kernels) {
  return std::ranges::all_of(
      kernels, [](const TraceCommunicationCall& kernel) { return kernel.name.empty(); });
}

std::string_view nccl_kernel_word(LoggedOperation operation) {
  switch (operation) {
    case LoggedOperation::kAllReduce: return "AllReduce";
    case LoggedOperation::kAllGather: return "AllGather";
    case LoggedOperation::kReduceScatter: return "ReduceScatter";
    case LoggedOperation::kBroadcast: return "Broadcast";
    case LoggedOperation::kReduce: return "_Reduce_";
    default: return "SendRecv";
  }
}

}  // namespace stepwright::logs
