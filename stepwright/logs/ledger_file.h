#pragma once

#include <filesystem>

#include "stepwright/logs/planned_calls.h"

namespace stepwright::logs {

/// The messages that a run of `stepwright train` has sent, as its ledger file records them.
struct ExecutedMessageLedger {
  std::int64_t ranks = 1;
  std::int64_t steps = 0;
  Calls calls;  ///< Calls of each rank on each communicator, over all steps.
};

/// Reads a file that `stepwright train --ledger` wrote. Fails with `kInput` if the file is no such
/// ledger.
ExecutedMessageLedger read_executed_ledger(const std::filesystem::path& path);

}  // namespace stepwright::logs
