#pragma once

#include <filesystem>

#include "stepwright/logs/planned_calls.h"

namespace stepwright::logs {

/// The messages that a training run of `stepwright train` has sent.
struct ExecutedLedger {
  std::int64_t ranks = 1;
  std::int64_t steps = 0;
  Calls calls;  ///< Calls of each communicator, over all steps.
};

/// Reads a file that `stepwright train --ledger` wrote. Fails with `kInput` if it is not one.
ExecutedLedger load_ledger(const std::filesystem::path& path);

}  // namespace stepwright::logs
