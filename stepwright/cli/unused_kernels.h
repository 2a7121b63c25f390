#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "stepwright/fit/samples/kineto_samples.h"

namespace stepwright::cli {

/// The kernels of each trace that a fit did not use.
using UnusedByFile = std::map<std::string, fit::UnusedByName>;

/// A table of each file, the longest time first; empty when every kernel is a sample.
std::string unused_text(const UnusedByFile& unused);

/// A list of {file, name, reason, kernels, seconds} in the same order.
nlohmann::ordered_json unused_json(const UnusedByFile& unused);

}  // namespace stepwright::cli
