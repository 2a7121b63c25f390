#pragma once

#include <string>
#include <vector>

#include "stepwright/logs/ledger_file.h"
#include "stepwright/traffic/ledger.h"

namespace stepwright::logs {

/// Executed calls whose payload depends on the data (`data_dependent_calls`): a router decides how
/// many rows the experts of a rank receive.
struct RoutedCalls {
  GroupCall call;          ///< The planned call; its payload is the predicted mean.
  std::int64_t calls = 0;  ///< Executed calls, summed over ranks and steps.
  double bound_bytes = 0;  ///< Upper bound of a call's payload: the mean times the job's imbalance.
  std::int64_t executed_bytes = 0;  ///< Payload bytes, summed over the executed calls.
  std::int64_t largest_bytes = 0;   ///< Payload of the largest executed call, in bytes.
  std::int64_t beyond = 0;  ///< Number of executed calls with more bytes than `bound_bytes`.
};

/// Differences between the predicted calls of a plan and the executed calls of a run.
struct Comparison {
  /// Number of communicators compared call by call, summed over ranks.
  std::int64_t communicators = 0;
  std::int64_t calls = 0;                ///< Predicted calls, summed over ranks and steps.
  std::vector<std::string> differences;  ///< One line for each difference; empty: the run matches.
  /// Calls whose payload a router decides. Other payloads than predicted are no differences.
  std::vector<RoutedCalls> routed;
};

/// Compares the calls of every rank on each of its communicators (operation, group, payload, count
/// and order), and their sums with the ledger that `stepwright traffic` prints. Where a payload
/// depends on the data, only the sum over all calls must be the predicted one, and only for
/// all-to-alls, because other messages are padded to the largest rank.
Comparison compare_ledgers(const step::StepProgram& program, const plan::Grid& grid,
                           const ExecutedLedger& executed);

}  // namespace stepwright::logs
