#pragma once

#include "stepwright/step/setting.h"
#include "stepwright/step/template_builder.h"

namespace stepwright::step {

/// Appends copies to host memory, on a stream of their own, of the tensors that the modules in
/// `modules` keep for the backward. Returns `kept` with the host tensors in place of those tensors.
/// A device tensor is freed when its last reader in the template, which may be the copy, has ended.
Kept copy_kept_tensors_to_host(TemplateBuilder& forward, const Kept& kept,
                               plan::OffloadModuleSet modules);

/// Inserts copies of kept tensors from host memory before a backward's operators, in the order in
/// which the backward needs them. Returns the tensors of `restored` as device tensors.
Kept copy_kept_tensors_from_host(TemplateBuilder& backward, const Kept& restored);

}  // namespace stepwright::step
