#pragma once

#include <optional>

#include "stepwright/collective/algorithm.h"
#include "stepwright/logs/record.h"

namespace stepwright::logs {

/// Returns the collective whose cost formula predicts the time of a logged operation; nullopt:
/// there is none.
constexpr std::optional<collective::CollectiveOperation> collective_of_logged_operation(
    LoggedOperation operation) {
  switch (operation) {
    case LoggedOperation::kAllReduce: return collective::CollectiveOperation::kAllReduce;
    case LoggedOperation::kAllGather: return collective::CollectiveOperation::kAllGather;
    case LoggedOperation::kReduceScatter: return collective::CollectiveOperation::kReduceScatter;
    case LoggedOperation::kAllToAll: return collective::CollectiveOperation::kAllToAll;
    case LoggedOperation::kSend: return collective::CollectiveOperation::kPointToPoint;
    default: return std::nullopt;
  }
}

}  // namespace stepwright::logs
