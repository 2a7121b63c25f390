#pragma once

#include <string_view>
#include <vector>

#include "stepwright/logs/readers/kineto_message.h"
#include "stepwright/logs/record.h"

namespace stepwright::logs {

/// Returns the time span of each described call: that of the kernel with the call's id, else the
/// n-th kernel with a key (operation, group, size) for the n-th call with that key; `kNoTime` if
/// there is no kernel. Removes the kernels that belong to a call from `kernels`.
std::vector<TimeSpan> time_calls_by_kernels(const std::vector<TraceMessage>& described,
                                            std::vector<TraceMessage>& kernels);

/// Removes kernels that run several grouped calls and therefore describe none: one for each
/// described call of the same kind without a kernel in `timed`.
void explain_grouped_kernels(const std::vector<TraceMessage>& described,
                             const std::vector<TimeSpan>& timed,
                             std::vector<TraceMessage>& kernels);

bool none_says_its_message(const std::vector<TraceMessage>& kernels);

/// Returns the word that the kernel names of an operation contain: "AllReduce".
std::string_view kernel_word(LogOperation operation);

}  // namespace stepwright::logs
