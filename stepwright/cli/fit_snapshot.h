#pragma once

#include <string>
#include <vector>

namespace stepwright::cli {

struct Console;

/// Arguments of `stepwright fit --snapshot`, which fits a framework's memory use to snapshots of
/// PyTorch's allocator.
struct MemorySnapshotFitRequest {
  std::vector<std::string> snapshots;
  std::string plan;  ///< Path of the plan that the ranks ran when the snapshots were taken.
  /// File of conditions (fitted constants of devices and frameworks) with which the fit starts;
  /// empty: the built-in ones.
  std::string conditions;
  std::string output;  ///< File to which the fitted conditions are written; empty: not written.
  bool json = false;
};

/// Learns from memory snapshots how much memory a framework needs in addition to model states and
/// tensors, prints it, and writes it to a file of conditions.
void fit_memory_snapshots(const MemorySnapshotFitRequest& request, const Console& console);

}  // namespace stepwright::cli
