#pragma once

#include <string>
#include <vector>

#include "stepwright/logs/ledger_file.h"
#include "stepwright/traffic/ledger.h"

namespace stepwright::logs {

/// Calls whose payload is data (`data_calls`): how many rows a rank's experts get is the router's.
struct RoutedCalls {
  GroupCall call;                   ///< The call, with the predicted mean payload.
  std::int64_t calls = 0;           ///< Executed, of all ranks and steps.
  double bound_bytes = 0;           ///< The mean times the job's imbalance.
  std::int64_t executed_bytes = 0;  ///< Payloads of all executed calls.
  std::int64_t largest_bytes = 0;   ///< Payload of the largest call.
  std::int64_t beyond = 0;          ///< Calls above the bound.
};

/// A predicted ledger beside an executed one.
struct Comparison {
  std::int64_t communicators = 0;        ///< Communicators of all ranks, compared call by call.
  std::int64_t calls = 0;                ///< Predicted, of all ranks and steps.
  std::vector<std::string> differences;  ///< One line each; empty: none.
  /// Calls of routers; payloads that differ are no differences.
  std::vector<RoutedCalls> routed;
};

/// Compares operation, group, payload, count and order of every rank's calls on each of its
/// communicators, and the sums with the ledger that `stepwright traffic` prints. Of calls whose
/// payload is data only the sum has to be the predicted one, and only of exchanges: other messages
/// are padded to the largest rank.
Comparison compare_ledgers(const step::StepProgram& program, const plan::Grid& grid,
                           const ExecutedLedger& executed);

}  // namespace stepwright::logs
