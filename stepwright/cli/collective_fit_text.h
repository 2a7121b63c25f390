#pragma once

#include <string>

#include "stepwright/fit/collectives/machine_profile.h"

namespace stepwright::cli {

/// Returns a table of the machines whose collective constants were fitted, with the error on rows
/// and group layouts left out of the fit, beside the error of the default constants. Below the
/// table: refused fits and the reasons.
std::string collective_fit_table(const fit::FittedMachineList& fitted);

/// Returns text about measured rows that the fit of collectives could not use: for each reason the
/// first rows by file and line, and the number of further ones.
std::string dropped_samples_text(const fit::FittedMachineList& fitted);

}  // namespace stepwright::cli
