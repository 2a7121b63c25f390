#pragma once

#include <string_view>
#include <vector>

#include "stepwright/logs/readers/kineto_message.h"
#include "stepwright/logs/record.h"

namespace stepwright::logs {

/// Returns the time span of each call in `described`: that of the kernel with the call's id, else
/// of the n-th kernel with a key (operation, group, size) for the n-th call with this key;
/// `kNoTime` if there is no kernel. Removes the kernels that belong to a call from `kernels`.
std::vector<TimeSpan> call_time_spans_from_kernels(
    const std::vector<TraceCommunicationCall>& described,
    std::vector<TraceCommunicationCall>& kernels);

/// Removes kernels that run several grouped calls at once, so that their time is not taken for that
/// of one call: one kernel for each call in `described` of the same operation that has no kernel in
/// `timed`.
void remove_kernels_of_grouped_calls(const std::vector<TraceCommunicationCall>& described,
                                     const std::vector<TimeSpan>& timed,
                                     std::vector<TraceCommunicationCall>& kernels);

bool no_kernel_describes_call(const std::vector<TraceCommunicationCall>& kernels);

/// Returns the word that names of NCCL kernels of an operation contain: "AllReduce".
std::string_view nccl_kernel_word(LoggedOperation operation);

}  // namespace stepwright::logs
