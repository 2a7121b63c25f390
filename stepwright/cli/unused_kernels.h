#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "stepwright/fit/samples/kineto_samples.h"

namespace stepwright::cli {

/// For each trace file, the GPU kernels that a fit of operator times did not use.
using UnusedByFile = std::map<std::string, fit::UnusedByName>;

/// Returns a table, for each trace file, of the GPU kernels that a fit did not use, longest total
/// time first; empty: the fit used all kernels.
std::string unused_kernels_text(const UnusedByFile& unused);

/// Returns the GPU kernels that a fit did not use as a JSON list of {file, name, reason, kernels,
/// seconds}, longest total time first.
nlohmann::ordered_json unused_kernels_json(const UnusedByFile& unused);

}  // namespace stepwright::cli
