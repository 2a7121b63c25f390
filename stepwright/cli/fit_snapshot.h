#pragma once

#include <string>
#include <vector>

namespace stepwright::cli {

struct Console;

/// The arguments of `stepwright fit --snapshot`.
struct FitSnapshotRequest {
  std::vector<std::string> snapshots;
  std::string plan;        ///< Plan that the ranks ran.
  std::string conditions;  ///< Conditions to start from; empty: the built-in ones.
  std::string output;      ///< Empty: nothing is written.
  bool json = false;
};

/// Learns from snapshots what the plan's framework holds beside states and tensors, says it, and
/// writes it into a file of conditions.
void fit_snapshot(const FitSnapshotRequest& request, const Console& console);

}  // namespace stepwright::cli
