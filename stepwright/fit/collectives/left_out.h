#pragma once

#include <string>
#include <vector>

#include "stepwright/fit/collectives/machine_fit.h"

namespace stepwright::fit {

/// Errors of constants on samples that their fit did not use.
struct LeftOutErrors {
  ErrorSummary all;
  ErrorSummary small;     ///< Errors on payloads below 1 MiB.
  ErrorSummary unfitted;  ///< Errors of the documented constants on the same samples.
};

/// Errors on one layout of a machine, by constants fitted without it.
struct LeftOutLayout {
  std::string layout;
  LeftOutErrors errors;
};
struct MachineStudy {
  const SampledMachine* machine = nullptr;
  std::string library;
  std::size_t rows = 0;
  /// Errors when each fifth of the rows is left out in turn; a hash of a row's id selects its
  /// fifth.
  LeftOutErrors rows_left_out;
  /// Errors when each layout is left out in turn; empty with fewer than three layouts.
  std::vector<LeftOutLayout> layouts;
  LeftOutErrors layouts_left_out;  ///< Errors over all layouts together.
};

/// Returns the fifth (from 0) to which a sample belongs.
int hold_out_fifth(const CollectiveSample& sample);

/// Fits without each fifth of the rows, and without each layout in turn, and returns the errors on
/// the rows left out. A layout's rows of an operation count only if the operation has other rows of
/// the same reach (inside a node, across nodes).
MachineStudy cross_validate_machine(const MachineSamples& samples,
                                    const cost::CollectiveConstants* inside);

/// Fits without each fifth of the rows in turn, and returns the errors on the rows left out.
LeftOutErrors cross_validate_rows(const MachineSamples& samples,
                                  const cost::CollectiveConstants* inside);

}  // namespace stepwright::fit
