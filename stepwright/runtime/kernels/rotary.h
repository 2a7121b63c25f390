#pragma once

#include "stepwright/runtime/execute/call.h"

namespace stepwright::runtime {

/// Whether positions turn queries and keys of the layer that an operator is of.
bool rotates(const Call& call);
/// Turns the first dimensions of [rows, heads, dimensions] in place, by the positions of the call's
/// rows; `sign` -1 turns back.
void turn(const Call& call, const at::Tensor& heads, double sign);

}  // namespace stepwright::runtime
