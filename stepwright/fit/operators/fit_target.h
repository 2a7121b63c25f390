#pragma once

#include <span>
#include <string>
#include <string_view>

#include "stepwright/fit/operators/device_fit.h"

namespace stepwright::fit {

/// Returns a built-in device with its number of multiprocessors. Fails with `kInput` when either is
/// unknown.
FitTarget fit_target(std::string_view device);

/// Returns the device of samples: the one that their rows state, or else the built-in device whose
/// name shares its first word and most others with the file's ("gh200_120g.csv": gh200-96g). Fails
/// with `kInput` when there is none, or more than one.
std::string sampled_device(std::span<const OperatorTable> tables);

}  // namespace stepwright::fit
