#pragma once

#include <string>

namespace stepwright::cli {

struct Console;

/// The arguments of `stepwright fit --runs`.
struct FitRunsRequest {
  std::string runs;
  std::string conditions;  ///< Conditions to start from; empty: the built-in ones.
  std::string output;      ///< Empty: nothing is written.
  bool json = false;
};

/// Calibrates the conditions of training with a person's own runs, says how well that does on runs
/// left out, and writes the file.
void fit_runs(const FitRunsRequest& request, const Console& console);

}  // namespace stepwright::cli
