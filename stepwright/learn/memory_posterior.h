#pragma once

#include <vector>

#include "stepwright/memory/fit_probability.h"

namespace stepwright::learn {

/// The posterior of the memory error of one person's job: how far the memory of its runs is from
/// the account. Half of the variance of `MemoryErrorModel` is common to all plans of the job and
/// learned from its runs; half is different for each plan.
class MemoryPosterior {
 public:
  explicit MemoryPosterior(const memory::MemoryErrorModel& error_model);

  /// Learns from a run whose accounted peak is this share of the capacity. `fitted`: true: it
  /// fitted; false: it ran out of memory.
  void observe(double share, bool fitted);

  /// Returns P(a plan fits | its accounted peak as a share of the capacity, the runs so far).
  [[nodiscard]] double fit_probability(double share) const;

  /// Returns the largest share of the capacity at which a plan fits with this probability.
  [[nodiscard]] double share_at(double probability) const;

 private:
  std::vector<memory::MemoryErrorModel> cases_;  ///< Possible error models of the job.
  std::vector<double> weights_;  ///< Probability of each of `cases_`; they sum to 1.
};

}  // namespace stepwright::learn
