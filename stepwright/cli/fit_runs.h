#pragma once

#include <string>

namespace stepwright::cli {

struct Console;

/// Arguments of `stepwright fit --runs`, which fits constants to whole training runs.
struct FitRunsRequest {
  std::string runs;
  /// File of training conditions (constants) from which the fit starts; empty: the built-in ones.
  std::string conditions;
  /// File to which the fitted training conditions (constants) are written; empty: not written.
  std::string output;
  bool json = false;
};

/// Fits the training conditions (constants of devices and frameworks) to the user's own runs,
/// prints the error on runs left out of the fit, and writes the conditions to a file.
void fit_conditions_to_runs(const FitRunsRequest& request, const Console& console);

}  // namespace stepwright::cli
