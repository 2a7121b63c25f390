#pragma once

#include <array>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stepwright/cost/profiles/collective_profiles.h"
#include "stepwright/fit/samples/collective_sample.h"

namespace stepwright::fit {

/// Summary of relative errors |predicted / measured - 1| over a number of samples.
struct RelativeErrorSummary {
  std::size_t rows = 0;
  double median = 0;
  double mean = 0;
  /// Median of predicted / measured - 1; positive: predicted times are too long.
  double signed_median = 0;
};
RelativeErrorSummary summary(std::vector<double> signed_errors);

/// The fitted constants of one communication library on one machine.
struct MachineCollectiveFit {
  const SampledMachine* machine = nullptr;
  std::string library;
  cost::MachineCollectiveConstants constants;
  std::array<cost::DeterminedConstantFlags, cost::kCollectives> parts{};
  /// Number of samples of each collective operation.
  std::array<std::size_t, cost::kCollectives> rows{};
};

/// Timed collectives of one communication library on one machine.
struct MachineCollectiveSamples {
  const SampledMachine* machine = nullptr;
  std::string library;
  std::vector<const CollectiveSample*> samples;
};

/// Groups timed collectives by machine and library, in the order of `sampled_machines()`.
/// Operations of a layout whose rows contradict each other are left out, and their lines are added
/// to `dropped`.
std::vector<MachineCollectiveSamples> collective_samples_by_machine(
    std::span<const CollectiveSample> samples, std::vector<DroppedSampleRow>& dropped);

/// Fits the constants of every collective operation that has samples. `inside`: constants of the
/// same devices sampled inside a node, from which the fit starts; null: none. Operations without
/// samples across nodes take their network constants from the all-reduce.
MachineCollectiveFit fit_machine_collectives(const MachineCollectiveSamples& samples,
                                             const cost::MachineCollectiveConstants* inside);

/// Returns the errors of the times that these constants predict for samples.
RelativeErrorSummary prediction_error_summary(const cost::MachineCollectiveConstants& constants,
                                              std::span<const CollectiveSample* const> samples);

/// Returns fitted constants as an entry of the list `collectives` of a profile file. `held_out`:
/// errors on rows left out of the fit, which the entry states.
nlohmann::ordered_json collective_fit_json(const MachineCollectiveFit& fit,
                                           const RelativeErrorSummary& held_out);

}  // namespace stepwright::fit
