#pragma once

#include "stepwright/model/encoder.h"

namespace stepwright::model {

/// FLOPs of a forward of so many rows through the layers of a tower. Each row sees all others or,
/// in layers with a window, as many as the window holds.
double tower_flops(const Encoder& encoder, double rows);

}  // namespace stepwright::model
