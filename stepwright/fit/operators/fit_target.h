#pragma once

#include <span>
#include <string>
#include <string_view>

#include "stepwright/fit/operators/device_fit.h"

namespace stepwright::fit {

/// A built-in device with its multiprocessors. Fails with `kInput` when it is unknown, or when its
/// multiprocessors are.
FitTarget fit_target(std::string_view device);

/// The device that samples are of: what their rows say, or else the built-in device whose name
/// shares its first word and most others with the file's ("gh200_120g.csv": gh200-96g). Fails with
/// `kInput` when that is none, or more than one.
std::string sampled_device(std::span<const OperatorTable> tables);

}  // namespace stepwright::fit
