#pragma once

#include <string>
#include <vector>

#include "stepwright/fit/collectives/machine_fit.h"

namespace stepwright::fit {

/// Errors on samples that the constants never saw.
struct LeftOutErrors {
  ErrorSummary all;
  ErrorSummary small;     ///< Payloads below 1 MiB.
  ErrorSummary unfitted;  ///< The documented constants on the same samples.
};

/// The layouts of one machine that were left out.
struct LeftOutLayout {
  std::string layout;
  LeftOutErrors errors;
};
struct MachineStudy {
  const SampledMachine* machine = nullptr;
  std::string library;
  std::size_t rows = 0;
  LeftOutErrors rows_left_out;  ///< Each fifth of the rows in turn, by a hash of their ids.
  /// Each layout in turn; empty below three layouts.
  std::vector<LeftOutLayout> layouts;
  LeftOutErrors layouts_left_out;  ///< Errors over all layouts together.
};

/// The fifth to which a sample belongs, from 0.
int fifth_of(const CollectiveSample& sample);

/// Fits without each fifth of the rows, and without each layout in turn. A layout's rows of an
/// operation count when the operation has others of the same reach (inside a node, across nodes).
MachineStudy study_machine(const MachineSamples& samples, const cost::CollectiveConstants* inside);

/// Fits without each fifth of the rows.
LeftOutErrors study_rows(const MachineSamples& samples, const cost::CollectiveConstants* inside);

}  // namespace stepwright::fit
