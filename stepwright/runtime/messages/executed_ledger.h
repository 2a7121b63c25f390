#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "stepwright/step/operator.h"

namespace stepwright::runtime {

/// One call of a process group that was made.
struct ExecutedCall {
  step::OperatorKind operation{};
  step::Scheme scheme{};
  step::Phase phase{};
  std::string name;
  std::int64_t payload_bytes = 0;
  bool operator==(const ExecutedCall&) const = default;
};

/// The calls of one rank on one communicator, in order.
struct ExecutedCommunicator {
  std::int64_t rank = 0;
  plan::GroupKind group{};
  std::string channel;  ///< Name of the communicator's channel, from `channel_of`.
  std::vector<std::int64_t> members;
  std::vector<ExecutedCall> calls;
  std::int64_t scheduled = 0;  ///< Number of these calls that ran as schedules.
};

/// Returns the ledger file of a run (docs/formats.md, "Executed ledger"); equal calls in a row are
/// one entry with a count.
nlohmann::ordered_json executed_ledger_json(const std::vector<ExecutedCommunicator>& communicators,
                                            std::int64_t ranks, std::int64_t steps);

/// Returns the communicators of one rank as JSON.
nlohmann::ordered_json communicators_json(const std::vector<ExecutedCommunicator>& communicators);

}  // namespace stepwright::runtime
