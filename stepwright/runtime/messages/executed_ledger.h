#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "stepwright/step/operator.h"

namespace stepwright::runtime {

/// One executed call of a collective or transfer.
struct ExecutedCollectiveCall {
  step::OperatorKind operation{};
  step::ParallelismScheme scheme{};
  step::Phase phase{};
  std::string name;
  std::int64_t payload_bytes = 0;
  bool operator==(const ExecutedCollectiveCall&) const = default;
};

/// All calls that one rank made on one communicator, in order.
struct CommunicatorCallLog {
  std::int64_t rank = 0;
  plan::CommunicatorKind group{};
  /// Name that tells the rank's communicators in one kind of group apart
  /// (`step::operator_communicator_name`).
  std::string channel;
  std::vector<std::int64_t> members;
  std::vector<ExecutedCollectiveCall> calls;
  /// Number of `calls` that this project's own collective schedules carried out, instead of the
  /// library.
  std::int64_t scheduled = 0;
};

/// Returns the JSON file of all messages of a run (docs/formats.md, "Executed ledger"). Equal calls
/// in a row become one entry with a count.
nlohmann::ordered_json executed_messages_json(const std::vector<CommunicatorCallLog>& communicators,
                                              std::int64_t ranks, std::int64_t steps);

/// Returns the executed calls of one rank's communicators as JSON.
nlohmann::ordered_json communicator_calls_json(
    const std::vector<CommunicatorCallLog>& communicators);

}  // namespace stepwright::runtime
