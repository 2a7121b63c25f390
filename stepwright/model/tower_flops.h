#pragma once

#include "stepwright/model/encoder.h"

namespace stepwright::model {

/// Returns the forward FLOPs of `rows` rows through the layers of an encoder's tower. Each row
/// attends to all rows or, in layers with a window, to as many as the window holds.
double tower_flops(const Encoder& encoder, double rows);

}  // namespace stepwright::model
