#pragma once

#include <ostream>

#include "stepwright/core/dtype.h"
#include "stepwright/runtime/messages/groups.h"

namespace stepwright::sample {

/// Times the computations of training steps of small models, run by the executor on this process
/// alone while the other ranks of the world do the same; rank 0 writes a row for each operator,
/// phase and shape (`kComputationSampleHeader`), the mean of its runs. `pace`: as in
/// `TrainOptions`.
void sample_operators(const runtime::Groups::World& world, DType precision, double pace,
                      std::ostream& out);

}  // namespace stepwright::sample
