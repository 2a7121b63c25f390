#pragma once

#include <string>

#include "stepwright/fit/collectives/machine_profile.h"

namespace stepwright::cli {

/// Returns a table of fitted machines, with the error on left-out rows and on left-out layouts
/// beside that of the unfitted constants; below it the fits that were refused, and why.
std::string collective_fit_table(const fit::FittedCollectives& fitted);

/// Returns the rows that the fit dropped: for each reason the first rows by file and line, and the
/// number of further ones.
std::string dropped_samples_text(const fit::FittedCollectives& fitted);

}  // namespace stepwright::cli
