#pragma once

#include "stepwright/runtime/states/parameter_slice.h"

namespace stepwright::runtime {

/// The rows of a parameter's matrices, then the columns of each of them, as if they were a vector
/// of its own, "NAME.sums": what this rank holds of them, copy by copy.
ParameterSlice edge_slice(const ParameterSlice& parameter);

/// The same without those that the first tensor rank has, too: the edges of the dimension that is
/// not cut.
ParameterSlice own_edge_slice(const ParameterSlice& parameter);

}  // namespace stepwright::runtime
