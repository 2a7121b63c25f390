#pragma once

#include <string>

namespace stepwright::cli {

struct Console;

/// The arguments of `stepwright fit --runs`.
struct FitRunsRequest {
  std::string runs;
  std::string conditions;  ///< Conditions to start from; empty: the built-in ones.
  std::string output;      ///< File to write; empty: none is written.
  bool json = false;
};

/// Calibrates the training conditions with the user's own runs, prints the error on runs left out
/// of the fit, and writes the file.
void fit_runs(const FitRunsRequest& request, const Console& console);

}  // namespace stepwright::cli
