#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "stepwright/fit/samples/kineto_samples.h"

namespace stepwright::cli {

/// For each trace, the kernels that a fit did not use.
using UnusedByFile = std::map<std::string, fit::UnusedByName>;

/// Returns a table for each file, kernels with the longest time first; empty: every kernel became a
/// sample.
std::string unused_kernels_text(const UnusedByFile& unused);

/// Returns the unused kernels as a list of {file, name, reason, kernels, seconds}, those with the
/// longest time first.
nlohmann::ordered_json unused_kernels_json(const UnusedByFile& unused);

}  // namespace stepwright::cli
