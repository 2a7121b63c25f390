#pragma once

#include <span>
#include <string>

#include "stepwright/fit/operators/device_fit.h"

namespace stepwright::cli {

/// Returns a table of the laws fitted to a device's operators, with each candidate law's error on
/// rows left out of its fit.
std::string operator_fit_table(const fit::DeviceFit& fit);

/// Returns text about measured rows that a fit could not use: for each reason the first rows by
/// file and line, and the number of further ones.
std::string dropped_measurement_rows_text(std::span<const fit::UnusableOperatorRow> dropped);

}  // namespace stepwright::cli
