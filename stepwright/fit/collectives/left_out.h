#pragma once

#include <string>
#include <vector>

#include "stepwright/fit/collectives/machine_fit.h"

namespace stepwright::fit {

/// Errors of fitted constants on samples that their fit did not use, overall, for small payloads,
/// and for comparison those of the documented constants.
struct LeftOutErrors {
  ErrorSummary all;
  ErrorSummary small;     ///< Errors on samples with payloads below 1 MiB.
  ErrorSummary unfitted;  ///< Errors of the documented constants (not fitted) on the same samples.
};

/// Errors on the samples of one layout (nodes x ranks per node) of a machine, by constants fitted
/// without them.
struct LeftOutLayout {
  std::string layout;
  LeftOutErrors errors;
};
struct MachineStudy {
  const SampledMachine* machine = nullptr;
  std::string library;
  std::size_t rows = 0;
  /// Errors when each fifth of the rows is left out of the fit in turn; a hash of a row's id
  /// selects its fifth.
  LeftOutErrors rows_left_out;
  /// Errors when each layout (nodes x ranks per node) is left out of the fit in turn; empty if
  /// there are fewer than three layouts.
  std::vector<LeftOutLayout> layouts;
  /// Errors over all layouts together, each left out of the fit in turn.
  LeftOutErrors layouts_left_out;
};

/// Returns the fifth of the samples (0 to 4) with which a sample is left out in cross-validation.
int hold_out_fifth(const CollectiveSample& sample);

/// Fits constants without each fifth of the rows, and without each layout, in turn, and returns the
/// errors on the rows left out. `inside`: start values, as for `fit_machine`. A layout's rows of an
/// operation count only if the operation has other rows of the same reach (inside a node, or across
/// nodes).
MachineStudy cross_validate_machine(const MachineSamples& samples,
                                    const cost::CollectiveConstants* inside);

/// Fits constants without each fifth of the rows in turn, and returns the errors on the rows left
/// out. `inside`: start values, as for `fit_machine`.
LeftOutErrors cross_validate_rows(const MachineSamples& samples,
                                  const cost::CollectiveConstants* inside);

}  // namespace stepwright::fit
