#pragma once

#include "stepwright/model/encoder.h"

namespace stepwright::model {

/// Returns the forward FLOPs of `rows` image patches through all layers of an image encoder. Each
/// patch attends to all patches or, in layers with windows, to one window.
double encoder_tower_flops(const ImageEncoder& encoder, double rows);

}  // namespace stepwright::model
