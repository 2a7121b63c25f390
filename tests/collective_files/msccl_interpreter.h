#pragma once

#include <cstdint>

#include "tests/collective_files/msccl_file.h"
#include "tests/collective_files/numbers.h"

namespace stepwright::collective_files {

/// Executes an MSCCL algorithm file on numbers and returns the outputs. Thread blocks run
/// alternately, in an order that `seed` decides. A connection holds `slots` messages; a send to a
/// full one waits. Throws `std::runtime_error` on a deadlock of thread blocks, and if the two ends
/// of a message differ in length.
Pieces run_msccl(const MscclFile& file, const Pieces& inputs, std::uint32_t seed,
                 std::size_t slots);

}  // namespace stepwright::collective_files
