#pragma once

#include <vector>

#include "stepwright/plan/modules.h"
#include "stepwright/step/template_builder.h"

namespace stepwright::step {

/// Returns the names of the tensors that a module computes and its backward reads (not the module's
/// input): recomputation of the module computes them again instead of keeping them.
std::vector<KeptTensorRole> tensors_kept_inside_module(plan::RecomputeModule module);

}  // namespace stepwright::step
