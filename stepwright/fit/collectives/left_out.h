#pragma once

#include <string>
#include <vector>

#include "stepwright/fit/collectives/machine_fit.h"

namespace stepwright::fit {

/// Errors of fitted constants on samples that their fit did not use, overall, for small payloads,
/// and for comparison those of the documented constants.
struct CrossValidationErrors {
  RelativeErrorSummary all;
  /// Errors of the fitted constants on samples with payloads below 1 MiB.
  RelativeErrorSummary small;
  RelativeErrorSummary
      unfitted;  ///< Errors of the documented constants (not fitted) on the same samples.
};

/// Errors on the samples of one layout (nodes x ranks per node) of a machine, by constants fitted
/// without them.
struct LeftOutLayoutErrors {
  std::string layout;
  CrossValidationErrors errors;
};
struct MachineStudy {
  const SampledMachine* machine = nullptr;
  std::string library;
  std::size_t rows = 0;
  /// Prediction errors on the rows that a fit did not use, when each fifth of the rows is left out
  /// in turn; a hash of a row's id selects its fifth.
  CrossValidationErrors rows_left_out;
  /// Prediction errors on each layout (nodes x ranks per node) when a fit leaves it out; empty if
  /// there are fewer than three layouts.
  std::vector<LeftOutLayoutErrors> layouts;
  /// Prediction errors over all layouts (nodes x ranks per node) together, each left out of a fit
  /// in turn.
  CrossValidationErrors layouts_left_out;
};

/// Returns the fold (0 to 4) of a sample in cross-validation: each fifth of the samples is left out
/// of a fit in turn.
int cross_validation_fold_of_sample(const CollectiveSample& sample);

/// Fits constants without each fifth of the rows, and without each layout, in turn, and returns the
/// errors on the rows left out. `inside`: start values, as for `fit_machine_collectives`. A
/// layout's rows of an operation count only if the operation has other rows of the same reach
/// (inside a node, or across nodes).
MachineStudy cross_validate_machine(const MachineCollectiveSamples& samples,
                                    const cost::MachineCollectiveConstants* inside);

/// Fits constants without each fifth of the rows in turn, and returns the errors on the rows left
/// out. `inside`: start values, as for `fit_machine_collectives`.
CrossValidationErrors cross_validate_rows(const MachineCollectiveSamples& samples,
                                          const cost::MachineCollectiveConstants* inside);

}  // namespace stepwright::fit
