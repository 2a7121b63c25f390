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

/// Relative errors |predicted / measured - 1|.
struct ErrorSummary {
  std::size_t rows = 0;
  double median = 0;
  double mean = 0;
  double signed_median = 0;  ///< Positive: predicted too slow.
};
ErrorSummary summary(std::vector<double> signed_errors);

/// Constants of one library on one machine, fitted.
struct MachineFit {
  const SampledMachine* machine = nullptr;
  std::string library;
  cost::CollectiveConstants constants;
  std::array<cost::FittedParts, cost::kCollectives> parts{};
  std::array<std::size_t, cost::kCollectives> rows{};  ///< Samples of each operation.
};

/// Samples of one library on one machine.
struct MachineSamples {
  const SampledMachine* machine = nullptr;
  std::string library;
  std::vector<const CollectiveSample*> samples;
};

/// Samples by machine and library, in the order of `sampled_machines()`. Operations of a layout
/// whose rows contradict each other are left out; `dropped` gets their lines.
std::vector<MachineSamples> by_machine(std::span<const CollectiveSample> samples,
                                       std::vector<DroppedRow>& dropped);

/// Fits every operation that has samples; `inside`: the constants of the same devices sampled
/// inside a node, from which the fit starts, or null. Operations without samples across nodes take
/// what the network costs from the all-reduce.
MachineFit fit_machine(const MachineSamples& samples, const cost::CollectiveConstants* inside);

/// The error of constants on samples.
ErrorSummary error_of(const cost::CollectiveConstants& constants,
                      std::span<const CollectiveSample* const> samples);

/// The entry of a profile's `collectives` list.
nlohmann::ordered_json collectives_json(const MachineFit& fit, const ErrorSummary& held_out);

}  // namespace stepwright::fit
