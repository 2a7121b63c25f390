#pragma once

#include <optional>

#include "stepwright/collective/algorithm.h"
#include "stepwright/logs/record.h"

namespace stepwright::logs {

/// Returns the collective whose cost formula predicts the time of a logged operation; nullopt:
/// there is none.
constexpr std::optional<collective::Collective> collective_of_logged_operation(
    LogOperation operation) {
  switch (operation) {
    case LogOperation::kAllReduce: return collective::Collective::kAllReduce;
    case LogOperation::kAllGather: return collective::Collective::kAllGather;
    case LogOperation::kReduceScatter: return collective::Collective::kReduceScatter;
    case LogOperation::kAllToAll: return collective::Collective::kAllToAll;
    case LogOperation::kSend: return collective::Collective::kPointToPoint;
    default: return std::nullopt;
  }
}

}  // namespace stepwright::logs
