#pragma once

#include <ostream>

#include "stepwright/core/dtype.h"
#include "stepwright/runtime/messages/groups.h"

namespace stepwright::sample {

/// Times the computations in training steps of small models. The executor runs them in this process
/// without messages, while the other ranks do the same. Rank 0 writes a row for each operator,
/// phase and shape (`kComputationSampleHeader`): the mean of its runs. `pace`: as in
/// `TrainOptions`.
void sample_operators(const runtime::Groups::World& world, DType precision, double pace,
                      std::ostream& out);

}  // namespace stepwright::sample
