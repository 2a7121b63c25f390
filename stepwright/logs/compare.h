#pragma once

#include <string>
#include <vector>

#include "stepwright/logs/ledger_file.h"
#include "stepwright/traffic/ledger.h"

namespace stepwright::logs {

/// Executed calls whose payload depends on the data, since a router decides how many rows the
/// experts of a rank receive.
struct RouterDependentCalls {
  ProcessGroupCall call;   ///< The planned call; its payload is the predicted mean, in bytes.
  std::int64_t calls = 0;  ///< Number of executed calls, summed over ranks and steps.
  /// Upper bound of the payload of a call, in bytes: the mean times the job's expert imbalance.
  double bound_bytes = 0;
  std::int64_t executed_bytes = 0;  ///< Payload bytes, summed over the executed calls.
  std::int64_t largest_bytes = 0;   ///< Payload of the largest executed call, in bytes.
  /// Number of executed calls whose payload is above the upper bound `bound_bytes`.
  std::int64_t beyond = 0;
};

/// Differences between the predicted calls of a plan and the executed calls of a run.
struct LedgerComparison {
  /// Number of communicators whose calls were compared one by one, summed over ranks.
  std::int64_t communicators = 0;
  std::int64_t calls = 0;  ///< Number of predicted calls, summed over ranks and steps.
  /// One line for each difference between prediction and run; empty: there is none.
  std::vector<std::string> differences;
  /// Calls whose payload a router decides; payloads other than the predicted mean are no
  /// differences.
  std::vector<RouterDependentCalls> routed;
};

/// Compares the predicted calls of every rank on each of its communicators with the executed ones
/// (operation, group, payload, count and order), and their sums with the ledger that `stepwright
/// traffic` prints. For payloads that depend on the data only the sum over all calls of an
/// all-to-all must match; other messages are padded to the largest rank.
LedgerComparison compare_message_ledgers(const step::StepProgram& program,
                                         const plan::RankGrid& grid,
                                         const ExecutedMessageLedger& executed);

}  // namespace stepwright::logs
