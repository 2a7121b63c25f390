#pragma once

#include <string>
#include <vector>

namespace stepwright::cli {

struct Console;

/// The arguments of `stepwright fit --snapshot`.
struct FitSnapshotRequest {
  std::vector<std::string> snapshots;
  std::string plan;        ///< Path of the plan that the ranks ran.
  std::string conditions;  ///< Conditions to start from; empty: the built-in ones.
  std::string output;      ///< File to write; empty: none is written.
  bool json = false;
};

/// Learns from memory snapshots how much memory the plan's framework occupies in addition to states
/// and tensors, prints it, and writes it into a file of conditions.
void fit_snapshot(const FitSnapshotRequest& request, const Console& console);

}  // namespace stepwright::cli
