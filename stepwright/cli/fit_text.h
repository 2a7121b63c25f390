#pragma once

#include <span>
#include <string>

#include "stepwright/fit/operators/device_fit.h"

namespace stepwright::cli {

/// A table of the fits with the held-out error of each candidate.
std::string fit_table(const fit::DeviceFit& fit);

/// The dropped rows, the first ones of each reason by file and line, and how many more there are.
std::string dropped_text(std::span<const fit::BadRow> dropped);

}  // namespace stepwright::cli
