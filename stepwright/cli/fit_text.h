#pragma once

#include <span>
#include <string>

#include "stepwright/fit/operators/device_fit.h"

namespace stepwright::cli {

/// Returns a table of the fits with the held-out error of each candidate law.
std::string fit_table(const fit::DeviceFit& fit);

/// Returns the rows that the fit dropped: for each reason the first rows by file and line, and the
/// number of further ones.
std::string dropped_rows_text(std::span<const fit::BadRow> dropped);

}  // namespace stepwright::cli
