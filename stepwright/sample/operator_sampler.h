#pragma once

#include <ostream>

#include "stepwright/core/dtype.h"
#include "stepwright/runtime/messages/groups.h"

namespace stepwright::sample {

/// Times the operators in training steps of small models, on every rank at once and without
/// messages. Rank 0 writes a table with one row for each operator, phase and shape: the mean time
/// of its runs. `pace`: factor by which computations are slowed down, as in `train`.
void measure_operators(const runtime::RankCommunicators::RankWorld& world, DType precision,
                       double pace, std::ostream& out);

}  // namespace stepwright::sample
