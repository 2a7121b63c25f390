#pragma once

#include <cstdint>

#include "tests/collective_files/msccl_file.h"
#include "tests/collective_files/numbers.h"

namespace stepwright::collective_files {

/// Runs an algorithm file of MSCCL on numbers and returns the outputs. Thread blocks take turns, in
/// an order that `seed` decides; a connection holds `slots` messages, and a send to a full one
/// waits. Throws `std::runtime_error` when thread blocks wait for ever, and when the ends of a
/// message differ in length.
Pieces run_msccl(const MscclFile& file, const Pieces& inputs, std::uint32_t seed,
                 std::size_t slots);

}  // namespace stepwright::collective_files
