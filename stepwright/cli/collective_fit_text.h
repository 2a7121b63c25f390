#pragma once

#include <string>

#include "stepwright/fit/collectives/machine_profile.h"

namespace stepwright::cli {

/// A table of the machines with the error on rows and on whole layouts left out, beside that of the
/// unfitted constants; then the fits that are not used, and why.
std::string collective_fit_table(const fit::FittedCollectives& fitted);

/// The dropped rows, the first ones of each reason by file and line, and how many more there are.
std::string dropped_samples_text(const fit::FittedCollectives& fitted);

}  // namespace stepwright::cli
