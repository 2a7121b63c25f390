#pragma once

#include <string>
#include <vector>

#include "stepwright/logs/ledger_file.h"
#include "stepwright/traffic/ledger.h"

namespace stepwright {

/// A predicted ledger beside an executed one.
struct Comparison {
  std::int64_t communicators = 0;        ///< Of all ranks, compared call by call.
  std::int64_t calls = 0;                ///< Predicted, of all ranks and steps.
  std::vector<std::string> differences;  ///< One line each; empty: none.
};

/// Compares operation, group, payload, count and order of every rank's calls on each of its
/// communicators, and the sums with the ledger that `stepwright traffic` prints.
Comparison compare_ledgers(const StepProgram& program, const Grid& grid,
                           const ExecutedLedger& executed);

}  // namespace stepwright
