#pragma once

#include <string_view>
#include <vector>

#include "stepwright/logs/readers/kineto_message.h"
#include "stepwright/logs/record.h"

namespace stepwright::logs {

/// The times of described calls by their kernels: those of the operator that launched them by its
/// id, else the n-th kernel of a key belongs to the n-th call of it; `kNoTime` without. Kernels
/// that have a call are taken out.
std::vector<TimeSpan> pair_kernels(const std::vector<TraceMessage>& described,
                                   std::vector<TraceMessage>& kernels);

/// A kernel that runs several calls of a group says nothing of any: it belongs to described calls
/// of its kind that have no kernel of their own, and is taken out.
void explain_grouped_kernels(const std::vector<TraceMessage>& described,
                             const std::vector<TimeSpan>& timed,
                             std::vector<TraceMessage>& kernels);

bool none_says_its_message(const std::vector<TraceMessage>& kernels);

/// The word in the names of an operation's kernels.
std::string_view kernel_word(LogOperation operation);

}  // namespace stepwright::logs
