#pragma once

#include <vector>

#include "stepwright/memory/fit_probability.h"

namespace stepwright::learn {

/// Learns how far the memory of a job's real runs is from the predicted memory. Half of the
/// variance of the prediction error is common to all plans of the job and is learned; the other
/// half differs from plan to plan.
class MemoryErrorPosterior {
 public:
  explicit MemoryErrorPosterior(const memory::MemoryErrorModel& error_model);

  /// Learns from one run. `share`: its predicted peak memory as a share of the capacity; `fitted`:
  /// true: it fitted, false: it ran out of memory.
  void update_from_memory_outcome(double share, bool fitted);

  /// Returns the probability, after the runs so far, that a plan fits whose predicted peak is
  /// `share` of the capacity.
  [[nodiscard]] double memory_fit_probability(double share) const;

  /// Returns the largest predicted peak, as a share of the capacity, at which a plan still fits
  /// with this probability.
  [[nodiscard]] double predicted_peak_share_at_probability(double probability) const;

 private:
  /// Candidate error models, of which one is true for this job.
  std::vector<memory::MemoryErrorModel> cases_;
  /// Probability that each of `cases_` is the true one; they sum to 1.
  std::vector<double> weights_;
};

}  // namespace stepwright::learn
