#pragma once

#include <optional>

#include "stepwright/plan/job.h"

namespace CLI {
class App;
}

namespace stepwright::cli {

/// The options `--memory-confidence` and `--memory-reserve` of commands that say whether a plan
/// fits.
class MemoryReserve {
 public:
  explicit MemoryReserve(CLI::App& command);

  /// Puts what was given into a job.
  void apply(plan::Job& job) const {
    if (share_) job.objective.memory_reserve = *share_;
    if (!confidence_) return;
    job.objective.memory_confidence = *confidence_;
    job.objective.memory_reserve = -1;
  }

 private:
  std::optional<double> share_;
  std::optional<double> confidence_;
};

}  // namespace stepwright::cli
