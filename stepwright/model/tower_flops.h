#pragma once

#include "stepwright/model/encoder.h"

namespace stepwright::model {

/// Of a forward of so many rows through the layers of a tower, each of which sees all others or, in
/// layers with a window, so many.
double tower_flops(const Encoder& encoder, double rows);

}  // namespace stepwright::model
