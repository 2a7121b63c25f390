#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "tests/collective_files/numbers.h"

namespace stepwright::collective_files {

/// Executes an MSCCL++ execution plan on numbers and returns the outputs. Thread blocks run
/// alternately, in an order that `seed` decides. Reads every attribute that the loader of MSCCL++
/// requires. Throws `std::runtime_error` on a deadlock of thread blocks, and an error of the JSON
/// library if an attribute is missing.
Pieces run_mscclpp(const nlohmann::ordered_json& plan, const Pieces& inputs, std::uint32_t seed);

}  // namespace stepwright::collective_files
