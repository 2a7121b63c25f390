#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "tests/collective_files/numbers.h"

namespace stepwright::collective_files {

/// Runs an execution plan of MSCCL++ on numbers and returns the outputs. Thread blocks take turns,
/// in an order that `seed` decides. Reads every attribute that the loader of MSCCL++ asks for.
/// Throws `std::runtime_error` when thread blocks wait for ever, and whatever a missing attribute
/// throws.
Pieces run_mscclpp(const nlohmann::ordered_json& plan, const Pieces& inputs, std::uint32_t seed);

}  // namespace stepwright::collective_files
