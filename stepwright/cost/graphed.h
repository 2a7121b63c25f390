#pragma once

#include <cstdint>

#include "stepwright/plan/job.h"
#include "stepwright/step/operator.h"

namespace stepwright::cost {

/// Whether an operator is replayed in a graph: of a whole step, or of the part of a layer that it
/// stands in. A part takes its norm with it; the norm before experts goes with the router, and so
/// do shared experts. What a step's communication streams carry is never part of a layer's graph.
bool in_graph(const plan::CudaGraphs& graphs, const step::Operator& op);

}  // namespace stepwright::cost
