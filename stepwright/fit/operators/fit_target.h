#pragma once

#include <span>
#include <string>
#include <string_view>

#include "stepwright/fit/operators/device_fit.h"

namespace stepwright::fit {

/// Returns a built-in device, by name, with its number of multiprocessors. Fails with `kInput` if
/// either is unknown.
OperatorFitDevice find_operator_fit_device(std::string_view device);

/// Returns the name of the device on which samples were measured: the one that their rows state, or
/// else the built-in device whose name shares its first word and most others with the file's
/// ("gh200_120g.csv": gh200-96g). Fails with `kInput` if there is none, or more than one.
std::string device_of_samples(std::span<const OperatorSampleTable> tables);

}  // namespace stepwright::fit
