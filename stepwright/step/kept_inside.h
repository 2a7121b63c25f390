#pragma once

#include <vector>

#include "stepwright/plan/modules.h"
#include "stepwright/step/template_builder.h"

namespace stepwright::step {

/// The kept tensors of a module of a layer for which a backward asks, but for the module's input:
/// what is made again where the module is recomputed.
std::vector<Keep> kept_inside(plan::Module module);

}  // namespace stepwright::step
