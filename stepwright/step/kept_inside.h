#pragma once

#include <vector>

#include "stepwright/plan/modules.h"
#include "stepwright/step/template_builder.h"

namespace stepwright::step {

/// Roles of the tensors that a module's backward reads, without the module's input: they are
/// recomputed if the module is.
std::vector<Keep> kept_inside(plan::Module module);

}  // namespace stepwright::step
